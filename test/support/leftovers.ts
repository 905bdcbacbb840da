/**
 * Finds the state that a test file leaves in a worker for the files after it: a changed environment, a spy, a replaced member of
 * a global object, fake timers, a handler of process events, a timer that keeps the process alive, a listening socket.
 */
import { vi } from "vitest"

/** Node's names of the kinds of resources, each with its text for a failure. */
const resources: Readonly<Record<string, string>> = {
  Timeout: "a timer",
  Immediate: "an immediate",
  TCPServerWrap: "a listening socket",
  PipeServerWrap: "a listening socket"
}

/** Objects that all files of a worker share, by the name that a failure gives them. */
const globals: Readonly<Record<string, object>> = { globalThis, Math, console, performance }

/** The members of the shared objects. Accessors are not called. */
const membersNow = (): ReadonlyMap<string, unknown> =>
  new Map(
    Object.entries(globals).flatMap(([name, owner]) =>
      Object.entries(Object.getOwnPropertyDescriptors(owner)).flatMap(([member, { value }]) =>
        typeof value === "function" ? [[`${name}.${member}`, value as unknown] as const] : []
      )
    )
  )

/**
 * The handlers of process events, except those of signals and exit: libraries (the live board's, the TypeScript
 * compiler) add them once per process.
 */
const handlersNow = (): ReadonlyMap<string, number> =>
  new Map(
    process
      .eventNames()
      .filter((name) => name !== "exit" && !String(name).startsWith("SIG"))
      .map((name) => [String(name), process.listenerCount(name)])
  )

export interface Standing {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly members: ReadonlyMap<string, unknown>
  /** The number of handlers of each process event. */
  readonly handlers: ReadonlyMap<string, number>
  readonly counts: ReadonlyMap<string, number>
}

const counted = (): ReadonlyMap<string, number> => {
  const counts = new Map<string, number>()
  for (const kind of process.getActiveResourcesInfo()) counts.set(kind, (counts.get(kind) ?? 0) + 1)
  return counts
}

/** The state of the process before a file. */
export const standing = (): Standing => ({
  env: { ...process.env },
  members: membersNow(),
  handlers: handlersNow(),
  counts: counted()
})

type Spy = readonly [object: object, name: PropertyKey]
const spies: Array<Spy> = []
// One wrapper per process: the set-up of each file imports this module, which is evaluated once.
vi.spyOn = new Proxy(vi.spyOn, {
  apply: (target, self, args: [object, PropertyKey]) => {
    spies.push([args[0], args[1]])
    return Reflect.apply(target, self, args)
  }
})

const isSpied = ([object, name]: Spy): boolean => vi.isMockFunction((object as Record<PropertyKey, unknown>)[name])

/** A sentence for each resource or change that did not exist before the file. */
export const leftovers = (before: Standing): ReadonlyArray<string> => {
  const now = standing()
  const names = new Set([...Object.keys(before.env), ...Object.keys(now.env)])
  return [
    ...[...names]
      .filter((name) => before.env[name] !== now.env[name])
      .map((name) => `the environment variable ${name} is changed`),
    ...spies.filter(isSpied).map(([, name]) => `a spy on ${String(name)} is not restored`),
    ...(vi.isFakeTimers() ? ["timers are fake"] : []),
    ...[...now.members]
      .filter(([name, member]) => before.members.has(name) && before.members.get(name) !== member)
      .map(([name]) => `${name} is replaced`),
    ...[...now.handlers]
      .filter(([name, count]) => count > (before.handlers.get(name) ?? 0))
      .map(([name]) => `a handler of the process event ${name} is left`),
    ...Object.entries(resources)
      .filter(([kind]) => (now.counts.get(kind) ?? 0) > (before.counts.get(kind) ?? 0))
      .map(([, name]) => `${name} is left`)
  ]
}

/** Closed sockets and timers disappear with a short delay, so the check is repeated. */
const rounds = 100
const pauseMillis = 20

/** As `leftovers`, after a wait of up to 2 s for resources that are closing. Restores what it can for the next file. */
export const settledLeftovers = async (before: Standing): Promise<ReadonlyArray<string>> => {
  for (let round = 0; ; round++) {
    const found = leftovers(before)
    if (found.length === 0 || round === rounds) {
      spies.length = 0
      vi.restoreAllMocks()
      vi.useRealTimers()
      return found
    }
    await new Promise((resolve) => setTimeout(resolve, pauseMillis).unref())
  }
}
