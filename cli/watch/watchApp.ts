/**
 * The live screen of `watch`. It takes a snapshot of the service every two seconds, draws it, and executes the actions that
 * keys start. When the service does not respond, the screen shows this and retries (operator surface, watch).
 */
import { render } from "ink"
import { setTimeout as pause } from "node:timers/promises"
import { createElement } from "react"
import { cliFailure, CliFailure, exitStatus } from "../CliIo.ts"
import type { Connection } from "../connection.ts"
import { type CallService, type OperatorClient } from "../OperatorClient.ts"
import { render as renderView } from "../views/render.ts"
import { rehearse, type Rehearsed, errorText } from "./deeds.ts"
import { readFigures } from "./figures.ts"
import {
  beginWatch,
  done,
  type Intent,
  type Key,
  type Look,
  looked,
  disconnected,
  press,
  rehearsed,
  settled,
  type WatchState,
  type Wish
} from "./WatchModel.ts"
import { WatchScreen } from "./WatchScreen.ts"

export interface WatchWorld {
  readonly connection: Connection
  readonly call: CallService
  readonly stdin: NodeJS.ReadStream
  readonly stdout: NodeJS.WriteStream
  readonly styled: boolean
  readonly times: "short" | "utc"
  /** Completes when a signal arrives. */
  readonly stopped: Promise<void>
}

const pollMillis = 2_000
const queueLimit = 200
const happenedLimit = 20
/** Limit on the close-outs that one line shows. */
const closeOutLimit = 3

/** Timeout of a call, because a frozen service does not close its connections. */
const patienceMillis = 10_000

const unanswered = cliFailure(exitStatus.unreachable, 5030, "The service does not answer.")
const unsure = cliFailure(
  exitStatus.unreachable,
  5030,
  "The service does not answer, so the outcome is unknown: check the audit before you repeat the command."
)

/** The answer, or the failure `late` after the timeout; an answer after that is dropped. */
const inTime = async <A>(answer: Promise<A>, late: CliFailure): Promise<A> => {
  const clock = new AbortController()
  const patience = pause(patienceMillis, undefined, { signal: clock.signal }).then(
    () => Promise.reject(late),
    () => new Promise<never>(() => {})
  )
  try {
    return await Promise.race([answer, patience])
  } finally {
    clock.abort()
    answer.catch(() => undefined)
  }
}

/** Reads everything that the screen shows as one snapshot: queue, metrics, open close-outs and the newest audit entries. */
export const readWatched = async (api: OperatorClient): Promise<Look> => {
  const queue = (await api.queue.show({ query: { limit: queueLimit } })).data
  const text = await api.metrics.show()
  const { closeouts } = (await api.closeout.list({ query: { open: "true", limit: closeOutLimit } })).data
  const { entries } = (await api.audit.tail({ query: { limit: happenedLimit } })).data
  return {
    aheadMillis: queue.asOf - Date.now(),
    queue,
    figures: readFigures(text, performance.now()),
    closeouts,
    happened: entries
  }
}

/** Draws until `q`, Ctrl-C or a signal. Rejects when the first snapshot fails, so that a wrong address ends the command. */
export const watchLive = async (world: WatchWorld): Promise<void> => {
  const first = await world.call(world.connection, readWatched)
  await new Watcher(world, looked(beginWatch(world.connection.url, world.times), first)).run()
}

class Watcher {
  private readonly world: WatchWorld
  private state: WatchState
  private readonly deeds = new WeakMap<Intent, Rehearsed>()
  private readonly ended = Promise.withResolvers<void>()
  /** Ends the pause between two snapshots. */
  private wake = new AbortController()
  private screen: ReturnType<typeof render> | null = null

  constructor(world: WatchWorld, state: WatchState) {
    this.world = world
    this.state = state
  }

  async run(): Promise<void> {
    const { stdin, stdout, stopped } = this.world
    // Ink sets raw mode only after it has drawn: a key between the two would be echoed and lost.
    stdin.setRawMode(true)
    this.screen = render(this.element(), {
      stdin,
      stdout,
      exitOnCtrlC: false,
      patchConsole: false,
      // The caller has checked that there is a terminal, so Ink must not decide by the environment.
      interactive: true,
      alternateScreen: true
    })
    void stopped.then(() => this.set({ ...this.state, ended: true }))
    const polling = this.poll()
    await Promise.race([this.ended.promise, this.screen.waitUntilExit()])
    this.state = { ...this.state, ended: true }
    this.wake.abort()
    this.screen.unmount()
    stdin.setRawMode(false)
    await polling
  }

  private element() {
    const { styled } = this.world
    return createElement(WatchScreen, { state: this.state, now: Date.now(), styled, onKey: this.onKey })
  }

  private set(state: WatchState): void {
    this.state = state
    if (state.ended) this.ended.resolve()
    else this.screen?.rerender(this.element())
  }

  private readonly onKey = (key: Key): void => {
    const { state, wish } = press(this.state, key)
    this.set(state)
    if (wish !== null) void this.grant(wish)
  }

  private async poll(): Promise<void> {
    while (!this.state.ended) {
      await pause(pollMillis, undefined, { signal: this.wake.signal }).catch(() => undefined)
      if (this.state.ended) return
      this.wake = new AbortController()
      await this.look()
    }
  }

  private async look(): Promise<void> {
    try {
      const look = await inTime(this.world.call(this.world.connection, readWatched), unanswered)
      if (!this.state.ended) this.set(looked(this.state, look))
    } catch (error) {
      if (!(error instanceof CliFailure)) throw error
      if (!this.state.ended) this.set(disconnected(this.state, error.envelope.msg, Date.now()))
    }
  }

  /** The effects as lines, in the current width of the terminal. */
  private drawn({ view, names }: Rehearsed): ReadonlyArray<string> {
    const { stdout, times } = this.world
    return renderView(view, { styled: false, columns: stdout.columns || null, times, names }).split("\n")
  }

  private async grant(wish: Wish): Promise<void> {
    if (wish.kind === "look") return this.wake.abort()
    const { intent } = wish
    try {
      if (wish.kind === "rehearse") {
        const deed = await inTime(rehearse(this.world.call, this.world.connection, intent), unanswered)
        this.deeds.set(intent, deed)
        this.set(rehearsed(this.state, intent, this.drawn(deed)))
      } else {
        const deed = this.deeds.get(intent)
        if (deed === undefined) throw new Error("a deed is carried out that was never shown")
        this.set(done(this.state, intent, await inTime(deed.go(), unsure)))
        this.wake.abort()
      }
    } catch (error) {
      this.set(settled(this.state, intent, errorText(error)))
      this.wake.abort()
    }
  }
}
