/** What the feed's benchmark says to its generator and to the server that it is held against. */
import type { Slice } from "../load/protocol.ts"

/** GETs of the paths by turns, until the window is over. */
export interface PathSlice extends Pick<Slice, "port" | "ca" | "connections" | "millis"> {
  readonly partnerKey: string
  readonly paths: ReadonlyArray<string>
}

/** Serves one prepared buffer under each path on a free port, over HTTPS, to whoever has the key. */
export interface PreparedQuestion {
  readonly certificate: string
  readonly key: string
  readonly partnerKey: string
  readonly bodies: ReadonlyArray<{ readonly path: string; readonly body: string }>
}
