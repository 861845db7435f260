/** The dialect `switchboard`, as the host's own types say it. Nothing here runs but the version. */
export type * from "../wire/switchboard";
export { VERSION } from "../wire/switchboard";
