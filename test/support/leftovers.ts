/**
 * What a test file leaves behind in a worker that other files use after it: a changed environment, a spy, fake timers, a timer
 * that keeps the process alive, a listening socket.
 */
import { vi } from "vitest"

/** Kinds of resources as Node names them, and how a failure names them. */
const resources: Readonly<Record<string, string>> = {
  Timeout: "a timer",
  Immediate: "an immediate",
  TCPServerWrap: "a listening socket",
  PipeServerWrap: "a listening socket"
}

export interface Standing {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly counts: ReadonlyMap<string, number>
}

const counted = (): ReadonlyMap<string, number> => {
  const counts = new Map<string, number>()
  for (const kind of process.getActiveResourcesInfo()) counts.set(kind, (counts.get(kind) ?? 0) + 1)
  return counts
}

/** The state of the process before a file. */
export const standing = (): Standing => ({ env: { ...process.env }, counts: counted() })

type Spy = readonly [object: object, name: PropertyKey]
const spies: Array<Spy> = []
// One wrapper a process; the set-up of each file imports this module, which is evaluated once.
vi.spyOn = new Proxy(vi.spyOn, {
  apply: (target, self, args: [object, PropertyKey]) => {
    spies.push([args[0], args[1]])
    return Reflect.apply(target, self, args)
  }
})

const isSpied = ([object, name]: Spy): boolean => vi.isMockFunction((object as Record<PropertyKey, unknown>)[name])

/** A sentence for each thing that is there now and was not before the file. */
export const leftovers = (before: Standing): ReadonlyArray<string> => {
  const now = standing()
  const names = new Set([...Object.keys(before.env), ...Object.keys(now.env)])
  return [
    ...[...names]
      .filter((name) => before.env[name] !== now.env[name])
      .map((name) => `the environment variable ${name} is changed`),
    ...spies.filter(isSpied).map(([, name]) => `a spy on ${String(name)} is not restored`),
    ...(vi.isFakeTimers() ? ["timers are fake"] : []),
    ...Object.entries(resources)
      .filter(([kind]) => (now.counts.get(kind) ?? 0) > (before.counts.get(kind) ?? 0))
      .map(([, name]) => `${name} is left`)
  ]
}

/** Sockets and timers end a moment after they are closed: until then the check is repeated, this often. */
const rounds = 100
const pauseMillis = 20

/** As `leftovers`, after whatever ends by itself has ended. */
export const settledLeftovers = async (before: Standing): Promise<ReadonlyArray<string>> => {
  for (let round = 0; ; round++) {
    const found = leftovers(before)
    if (found.length === 0 || round === rounds) {
      spies.length = 0
      return found
    }
    await new Promise((resolve) => setTimeout(resolve, pauseMillis).unref())
  }
}
