/**
 * The calls of a service over one connection to the venue (`src/venue/callSession.ts`). The first call opens it, and all calls
 * share it. If it breaks or times out, every in-flight call ends with VenueUnanswered, although it may have been executed; the
 * next call opens another connection.
 */
import { Effect, Redacted, Result, Schema } from "effect"
import { enable } from "effect/schema/SchemaJITCompiler"
import { request as plainRequest } from "node:http"
import { Agent, request as tlsRequest } from "node:https"
import type { Duplex } from "node:stream"
import type { VenueCallName, VenueOutcome, VenueRequest } from "../../../machines/venue/venueCalls.ts"
import { isHeartbeat, venueStreamVersion } from "../../../machines/venue/VenueEvent.ts"
import { callSession, SessionAnswer, sessionLineLimit } from "../../../venue/callSession.ts"
import { type Line, LineCutter } from "../../../venue/LineCutter.ts"
import { ShortLivedMap } from "../../engine/ShortLivedMap.ts"
import { VenueUnanswered } from "../../ports/Venue.ts"
import type { VenueConnection } from "../../ports/VenueConnection.ts"

/** The timeout for a complete line (a heartbeat is due every second), and the timeout of a call; ms. */
const silence = 5_000
/**
 * The number of checks within the timeout. The timeout counts checks, because after a freeze of the whole process only one
 * check runs before the received lines are read.
 */
const checks = 10

type Answered = Effect.Effect<VenueOutcome, VenueUnanswered>

interface Waiting {
  readonly answer: (answer: Answered) => void
  /** The number of checks since the call was sent. */
  checks: number
}

export class CallSession {
  private readonly connection: VenueConnection
  private readonly patience: number
  private open: OpenSession | null = null

  /** `patience`: how long the venue may send nothing before the connection counts as broken, ms. */
  constructor(connection: VenueConnection, patience: number = silence) {
    this.connection = connection
    this.patience = patience
  }

  /** Makes one call. A call that its caller gives up may still be executed. */
  call<Name extends VenueCallName>(name: Name, request: VenueRequest<Name>): Answered {
    return Effect.callback<VenueOutcome, VenueUnanswered>((resume) => {
      if (this.open === null || this.open.isOver) this.open = new OpenSession(this.connection, this.patience)
      const session = this.open
      const id = session.send(name, request, resume)
      return Effect.sync(() => session.forget(id))
    })
  }

  close(): void {
    this.open?.end("the service ends")
  }
}

/** One connection to the venue, from the opening request until it breaks or is ended. */
class OpenSession {
  isOver = false
  private readonly waiting = new ShortLivedMap<number, Waiting>()
  private readonly cutter = new LineCutter(sessionLineLimit)
  private readonly watch: NodeJS.Timeout
  private socket: Duplex | null = null
  /** Lines that are sent at the end of this turn of the event loop, or when the connection is open. */
  private out = ""
  private lastId = 0
  private quietChecks = 0
  private hangUp: () => void

  constructor(connection: VenueConnection, patience: number) {
    const request = upgrading(connection)
    this.hangUp = () => void request.destroy()
    request.on("upgrade", (_answer, socket: Duplex, head: Buffer) => this.opened(socket, head))
    request.on("response", (answer) => {
      answer.destroy()
      this.end(`status ${answer.statusCode ?? 0}`)
    })
    request.on("error", () => this.end("the connection broke"))
    request.end()
    this.watch = setInterval(() => this.check(patience), patience / checks)
  }

  /** Sends a call. Returns the id that the response repeats; ids are unique within the connection. */
  send(name: VenueCallName, request: object, answer: (answer: Answered) => void): number {
    const id = ++this.lastId
    this.waiting.set(id, { answer, checks: 0 })
    if (this.out === "") setImmediate(() => this.flush())
    this.out += `${JSON.stringify({ id, name, request })}\n`
    return id
  }

  /** Drops a call whose caller no longer waits; its response is then ignored. */
  forget(id: number): void {
    this.waiting.delete(id)
  }

  /** Ends the connection: waiting callers get no response. `why` holds no secret. */
  end(why: string): void {
    if (this.isOver) return
    this.isOver = true
    clearInterval(this.watch)
    this.hangUp()
    for (const { answer } of this.waiting.values()) answer(unanswered(why))
    this.waiting.clear()
  }

  private check(patience: number): void {
    if (++this.quietChecks > checks) return this.end(`silent for ${patience} ms`)
    for (const [id, waiting] of this.waiting.entries()) {
      if (++waiting.checks <= checks) continue
      this.waiting.delete(id)
      waiting.answer(unanswered(`no answer within ${patience} ms`))
    }
  }

  private opened(socket: Duplex, head: Buffer): void {
    if (this.isOver) return void socket.destroy()
    this.socket = socket
    this.hangUp = () => void socket.destroy()
    socket.on("data", (chunk: Buffer) => this.take(chunk))
    socket.on("error", () => this.end("the connection broke"))
    socket.on("close", () => this.end("the connection broke"))
    if (head.length > 0) this.take(head)
    this.flush()
  }

  private flush(): void {
    if (this.socket === null || this.isOver || this.out === "") return
    this.socket.write(this.out)
    this.out = ""
  }

  private take(chunk: Buffer): void {
    for (const line of this.cutter.cut(chunk)) {
      if (this.isOver) return
      this.quietChecks = 0
      this.read(line)
    }
  }

  /** An unreadable line may belong to any call, so all calls in flight stay without a response. */
  private read({ text, whole }: Line): void {
    const value = whole ? jsonOf(text) : undefined
    if (isHeartbeat(value)) {
      if ("version" in value && value.version === venueStreamVersion) return
      return this.end(`the venue speaks another version than ${venueStreamVersion}, which this service knows`)
    }
    const read = answerOf(value)
    if (Result.isFailure(read)) return this.end("an answer that can't be read")
    const { id, outcome, trouble } = read.success
    const waiting = this.waiting.get(id)
    // The caller of this response no longer waits.
    if (waiting === undefined) return
    this.waiting.delete(id)
    waiting.answer(outcome === null ? unanswered(trouble ?? "no outcome") : Effect.succeed(outcome))
  }
}

const upgrading = ({ url, key, ca }: VenueConnection) => {
  const target = new URL(callSession.path, url)
  const token = Redacted.value(key)
  const headers = {
    connection: "Upgrade",
    upgrade: callSession.protocol,
    ...(token === "" ? {} : { authorization: `Bearer ${token}` })
  }
  return target.protocol === "https:"
    ? tlsRequest(target, { headers, agent: new Agent({ keepAlive: false, ...(ca === null ? {} : { ca }) }) })
    : plainRequest(target, { headers, agent: false })
}

const unanswered = (reason: string): Answered => Effect.fail(new VenueUnanswered({ reason }))

enable(SessionAnswer.ast)
const answerOf = Schema.decodeUnknownResult(SessionAnswer)

const jsonOf = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    // The text is no JSON. The schema rejects `undefined`, so the line counts as unreadable.
    return undefined
  }
}
