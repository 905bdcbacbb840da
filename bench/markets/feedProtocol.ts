/** The messages between the feed's benchmark, its load generator and its reference server. */
import type { Slice } from "../load/protocol.ts"

/** GETs of the paths in turn, until the window is over. */
export interface PathSlice extends Pick<Slice, "port" | "ca" | "connections" | "millis"> {
  readonly partnerKey: string
  readonly paths: ReadonlyArray<string>
}

/** Serves one prepared buffer under each path on a free port, over HTTPS, to callers with the key. */
export interface PreparedQuestion {
  readonly certificate: string
  readonly key: string
  readonly partnerKey: string
  readonly bodies: ReadonlyArray<{ readonly path: string; readonly body: string }>
}
