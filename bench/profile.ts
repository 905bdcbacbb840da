/**
 * Divides a request's processor time by modules. It takes a V8 CPU profile of the service under load, limited to the
 * load's window, and sums the self time of frames by module. Native frames without a module (socket writes, TLS,
 * hashing) belong to the nearest caller that has one; time outside of JavaScript is libuv, TLS decryption and sockets.
 */
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"

interface ProfileNode {
  readonly id: number
  readonly callFrame: { readonly functionName: string; readonly url: string; readonly lineNumber: number }
  readonly children?: ReadonlyArray<number>
}

interface CpuProfile {
  readonly nodes: ReadonlyArray<ProfileNode>
  /** Microseconds of the machine's monotonic clock. */
  readonly startTime: number
  readonly samples: ReadonlyArray<number>
  readonly timeDeltas: ReadonlyArray<number>
}

export interface ProfileShare {
  readonly name: string
  readonly micros: number
}

export interface ProfileReport {
  /** Time not idle inside the window, microseconds. */
  readonly busyMicros: number
  readonly idleMicros: number
  /** By part of the program, largest first. */
  readonly parts: ReadonlyArray<ProfileShare>
  /** By function, largest first. */
  readonly functions: ReadonlyArray<ProfileShare>
}

const parts: ReadonlyArray<readonly [string, RegExp]> = [
  [
    "TLS, sockets and HTTP parsing (node)",
    /^node:(_?tls|internal\/tls|_http|_https|https?|net|internal\/(http|stream_base|net)|_stream|stream|internal\/streams|internal\/js_stream|events|internal\/(event|abort))/
  ],
  ["HTTP layer of effect", /(effect\/dist\/(http|unstable\/http)|@effect\/platform-node)/],
  ["PostgreSQL driver (encoding a batch)", /(@effect\/sql-pg|effect\/dist\/sql)/],
  ["gates, idempotency, answers (src/http)", /\/src\/http\//],
  ["engine and ledger (src/runtime)", /\/src\/runtime\//],
  ["machines and rules (src/machines, xstate)", /(\/src\/machines\/|\/xstate\/)/],
  ["effect runtime (fibers)", /\/node_modules\/effect\//],
  ["crypto, timers and other node modules", /^node:/]
]

/** A map, because a frame may have the name of an inherited member, such as `toString`. */
const outside: ReadonlyMap<string, string> = new Map([
  ["(program)", "TLS, sockets and libuv (native)"],
  ["(garbage collector)", "garbage collection"]
])

const partOf = (url: string): string => parts.find(([, test]) => test.test(url))?.[0] ?? "other"

/** Reads the profile that a process wrote into `directory` (--cpu-prof-dir): that of `pid`, or the only one. */
export const readProfile = (directory: string, pid: number): CpuProfile => {
  const files = readdirSync(directory).filter((name) => name.endsWith(".cpuprofile"))
  const name = files.find((file) => file.split(".").includes(String(pid))) ?? files[0]
  if (name === undefined) throw new Error("the service wrote no CPU profile")
  return JSON.parse(readFileSync(join(directory, name), "utf8")) as CpuProfile
}

/** Self time by part and by function between two moments of the monotonic clock (microseconds). */
export const summariseProfile = (profile: CpuProfile, fromMicros: number, toMicros: number): ProfileReport => {
  const byId = new Map(profile.nodes.map((node) => [node.id, node]))
  const parentOf = new Map<number, number>()
  for (const node of profile.nodes) for (const child of node.children ?? []) parentOf.set(child, node.id)
  const moduleOf = (id: number): string => {
    for (let at: number | undefined = id; at !== undefined; at = parentOf.get(at)) {
      const url = byId.get(at)?.callFrame.url ?? ""
      if (url !== "") return url
    }
    return ""
  }
  const spent = new Map<number, number>()
  let at = profile.startTime
  for (const [index, id] of profile.samples.entries()) {
    at += profile.timeDeltas[index] ?? 0
    // A sample represents the time until the next sample.
    if (at >= fromMicros && at < toMicros)
      spent.set(id, (spent.get(id) ?? 0) + Math.max(0, profile.timeDeltas[index + 1] ?? 0))
  }
  const byPart = new Map<string, number>()
  const byFunction = new Map<string, number>()
  let idleMicros = 0
  let busyMicros = 0
  for (const [id, micros] of spent) {
    const { functionName, url, lineNumber } = (byId.get(id) as ProfileNode).callFrame
    if (functionName === "(idle)") {
      idleMicros += micros
      continue
    }
    busyMicros += micros
    const part = outside.get(functionName) ?? partOf(moduleOf(id))
    byPart.set(part, (byPart.get(part) ?? 0) + micros)
    const name = `${functionName || "(anonymous)"} ${shortUrl(url === "" ? moduleOf(id) : url)}${url === "" ? "" : `:${lineNumber + 1}`}`
    byFunction.set(name, (byFunction.get(name) ?? 0) + micros)
  }
  return { busyMicros, idleMicros, parts: dearestFirst(byPart), functions: dearestFirst(byFunction) }
}

const dearestFirst = (shares: ReadonlyMap<string, number>): ReadonlyArray<ProfileShare> =>
  [...shares].map(([name, micros]) => ({ name, micros })).sort((a, b) => b.micros - a.micros)

/** The last two path segments, which identify a file. */
const shortUrl = (url: string): string => url.split("/").slice(-2).join("/")
