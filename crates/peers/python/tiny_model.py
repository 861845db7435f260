"""Makes a tiny model of llama's shape with random weights, for a server that others have made. Its words mean nothing."""

import sys

import gguf
import numpy

# Small enough to answer at once on any machine, large enough that a server takes it for a model.
LAYERS, WIDTH, HEADS, INNER, WINDOW = 2, 64, 4, 128, 32768
# The words that decide what an answer becomes: its end, the beginning of a call, and the end of a text within one.
END, CALL, QUOTE = 4, 5, 40
# How much more likely each of them is than chance would have it, by what the model is to do.
LEANINGS = {"slow": {END: 10.0}, "talks": {END: -40.0, CALL: -40.0}, "calls": {CALL: 30.0, END: 22.0, QUOTE: 13.0}}
# Words that are never said; a server takes its time to read so many.
IDLE_WORDS = 300_000

# ChatML, with tools as servers pass them: what they offer, what was called and what came of it.
TEMPLATE = """{%- if tools %}<|im_start|>system
Tools: {{ tools | tojson }}<|im_end|>
{% endif %}{%- for message in messages %}<|im_start|>{{ message.role }}
{{ message.content }}{%- if message.tool_calls %}{%- for call in message.tool_calls %}<tool_call>
{{ {"name": call.function.name, "arguments": call.function.arguments} | tojson }}
</tool_call>{%- endfor %}{%- endif %}<|im_end|>
{% endfor %}{%- if add_generation_prompt %}<|im_start|>assistant
{% endif %}"""


def vocabulary(way):
    """The marks of a conversation, all bytes, and the printable signs of ASCII as words of one letter."""
    control, byte, normal = gguf.TokenType.CONTROL, gguf.TokenType.BYTE, gguf.TokenType.NORMAL
    words = [("<unk>", gguf.TokenType.UNKNOWN), ("<s>", control), ("</s>", control)]
    # A beginning must have a text, since the grammar that forces a call starts with it.
    words += [("<|im_start|>", gguf.TokenType.USER_DEFINED), ("<|im_end|>", control)]
    # One word, so that one weight decides whether a tool is called; with a line's end, which no text within a call has.
    words += [("\n<tool_call>\n", gguf.TokenType.USER_DEFINED)]
    words += [(f"<0x{value:02X}>", byte) for value in range(256)]
    words += [("\u2581", normal)] + [(chr(value), normal) for value in range(33, 127)]
    idle = IDLE_WORDS if way == "slow" else 0
    return words + [(f"idle{number}", normal) for number in range(idle)]


def describe(writer, words):
    writer.add_name("tiny")
    writer.add_context_length(WINDOW)
    writer.add_embedding_length(WIDTH)
    writer.add_block_count(LAYERS)
    writer.add_feed_forward_length(INNER)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(HEADS)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_rope_dimension_count(WIDTH // HEADS)
    writer.add_vocab_size(len(words))
    writer.add_file_type(gguf.LlamaFileType.MOSTLY_F16)
    writer.add_tokenizer_model("llama")
    writer.add_token_list([word for word, _ in words])
    writer.add_token_scores([-float(at) for at in range(len(words))])
    writer.add_token_types([kind for _, kind in words])
    writer.add_bos_token_id(1)
    writer.add_eos_token_id(END)
    writer.add_unk_token_id(0)
    writer.add_add_bos_token(False)
    writer.add_add_space_prefix(False)
    writer.add_chat_template(TEMPLATE)


def weigh(writer, count, leaning):
    # The same weights each time, so that a run can be repeated.
    chance = numpy.random.default_rng(4711)

    def random(*shape, by=0.4):
        return (chance.standard_normal(shape, dtype=numpy.float32) * by).astype(numpy.float16)

    def ones(name):
        writer.add_tensor(name, numpy.ones(WIDTH, dtype=numpy.float32))

    # The first number of every word is the same and no layer changes it, so what it weighs at the end is a leaning.
    words = random(count, WIDTH)
    words[:, 0] = 8.0
    writer.add_tensor("token_embd.weight", words)
    ones("output_norm.weight")
    out = random(count, WIDTH)
    out[:, 0] = 0.0
    for word, weight in leaning.items():
        out[word, 0] = weight / 6.0
    writer.add_tensor("output.weight", out)
    for layer in range(LAYERS):
        ones(f"blk.{layer}.attn_norm.weight")
        ones(f"blk.{layer}.ffn_norm.weight")
        for part in ("attn_q", "attn_k", "attn_v"):
            writer.add_tensor(f"blk.{layer}.{part}.weight", random(WIDTH, WIDTH, by=0.15))
        writer.add_tensor(f"blk.{layer}.ffn_gate.weight", random(INNER, WIDTH, by=0.15))
        writer.add_tensor(f"blk.{layer}.ffn_up.weight", random(INNER, WIDTH, by=0.15))
        for part, inner in (("attn_output", WIDTH), ("ffn_down", INNER)):
            back = random(WIDTH, inner, by=0.15)
            back[0, :] = 0.0
            writer.add_tensor(f"blk.{layer}.{part}.weight", back)


def main(path, way):
    words = vocabulary(way)
    writer = gguf.GGUFWriter(path, "llama")
    describe(writer, words)
    weigh(writer, len(words), LEANINGS[way])
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


main(*sys.argv[1:])
