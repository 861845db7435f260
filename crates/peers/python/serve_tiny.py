"""Serves a model by llama.cpp's own server until it is ended. What is answered while it loads is that server's business."""

import signal
import sys

import xllamacpp

# Words of an answer, unless its model ends it before.
LONGEST = {"slow": 200, "talks": 10000, "calls": 400}


def main(path, port, way):
    params = xllamacpp.CommonParams()
    params.model.path = path
    params.model_alias = {"tiny"}
    params.hostnames = ["127.0.0.1"]
    params.port = int(port)
    params.n_ctx = 32768
    params.n_parallel = 1
    params.n_predict = LONGEST[way]
    params.cpuparams.n_threads = 1
    params.cpuparams_batch.n_threads = 1
    params.use_jinja = True
    params.ui = False
    params.warmup = False
    # It is there until this program ends.
    server = xllamacpp.Server(params)
    print(server.listening_address, flush=True)
    signal.pause()


main(*sys.argv[1:])
