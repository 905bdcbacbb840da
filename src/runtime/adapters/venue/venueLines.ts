/**
 * A stream of the venue: lines of JSON on one response that stays open. A line that is too long or can't be read as what it
 * should be is handed on as its bytes (A2-115); a stream that is silent for 5 s is over; one of another version is not read.
 * What nobody takes stays in the socket.
 */
import { Effect, Redacted, Result, Schema, Stream } from "effect"
import { type ClientRequest, type IncomingMessage, request as plainRequest } from "node:http"
import { Agent, request as tlsRequest } from "node:https"
import { ChannelMessage } from "../../../machines/venue/marketData.ts"
import { VenueEvent, VenueHeartbeat, venueStreamVersion } from "../../../machines/venue/VenueEvent.ts"
import { type UnreadableLine, VenueEventsGone, VenueUnanswered } from "../../ports/Venue.ts"
import type { VenueConnection } from "../../ports/VenueConnection.ts"

/** Longest line that is read, bytes. */
export const lineLimit = 1024 * 1024
/** Characters of an unreadable line that are kept. */
const keptChars = 4_096
/** Longest silence: a heartbeat comes every second. Ms. */
const silence = 5_000

type Read<A> = (value: unknown) => Result.Result<A, unknown>

/** What a line of events should be. */
export const eventLine: Read<VenueEvent> = Schema.decodeUnknownResult(VenueEvent)
/** What a line of market data should be. */
export const channelLine: Read<ChannelMessage> = Schema.decodeUnknownResult(ChannelMessage)
const heartbeatLine = Schema.decodeUnknownResult(VenueHeartbeat)

/** `after`: of a stream of events, which may be gone (410); else null. */
export const venueLines = <A>(
  connection: VenueConnection,
  path: string,
  read: Read<A>,
  after: number | null
): Stream.Stream<A | VenueHeartbeat | UnreadableLine, VenueUnanswered | VenueEventsGone> =>
  Stream.unwrap(
    Effect.map(
      Effect.acquireRelease(
        Effect.sync(() => connect(connection, path)),
        (opened) => Effect.sync(() => opened.destroy())
      ),
      (opened) =>
        Stream.fromAsyncIterable(pieces(opened), failureOf(after)).pipe(
          Stream.mapEffect((piece) => linesOf(piece, read), { concurrency: 1 }),
          Stream.flattenIterable
        )
    )
  )

/** The status of an answer that is no stream. */
class NotOpened extends Error {
  readonly status: number

  constructor(status: number) {
    super(`status ${status}`)
    this.status = status
  }
}

const failureOf =
  (after: number | null) =>
  (error: unknown): VenueUnanswered | VenueEventsGone =>
    error instanceof NotOpened && error.status === 410 && after !== null
      ? new VenueEventsGone({ after })
      : new VenueUnanswered({ reason: error instanceof NotOpened ? error.message : "the stream broke" })

const connect = ({ url, key, ca }: VenueConnection, path: string): ClientRequest => {
  const target = new URL(path, url)
  const token = Redacted.value(key)
  const headers = token === "" ? {} : { authorization: `Bearer ${token}` }
  return target.protocol === "https:"
    ? tlsRequest(target, { headers, agent: new Agent({ keepAlive: false, ...(ca === null ? {} : { ca }) }) })
    : plainRequest(target, { headers, agent: false })
}

/** Whole lines as they come, a piece for what one read of the socket brought. */
async function* pieces(opened: ClientRequest): AsyncGenerator<ReadonlyArray<Line>> {
  const incoming = await answerOf(opened)
  if (incoming.statusCode !== 200) throw new NotOpened(incoming.statusCode ?? 0)
  let heardAt = performance.now()
  // What waits to be read is no silence of the venue's.
  const watch = setInterval(() => {
    if (incoming.readableLength === 0 && performance.now() - heardAt > silence) incoming.destroy(new Error("silent"))
  }, 500)
  const cutter = new LineCutter()
  try {
    for await (const chunk of incoming) {
      heardAt = performance.now()
      const lines = cutter.cut(chunk as Buffer)
      if (lines.length > 0) yield lines
    }
  } finally {
    clearInterval(watch)
    opened.destroy()
  }
}

const answerOf = (opened: ClientRequest): Promise<IncomingMessage> =>
  new Promise((resolve, reject) => {
    const late = setTimeout(() => opened.destroy(new Error("no answer")), silence)
    opened.once("response", (incoming) => {
      clearTimeout(late)
      resolve(incoming)
    })
    opened.on("error", (error) => {
      clearTimeout(late)
      reject(error)
    })
    opened.end()
  })

/** A line's text, or the beginning of one that was too long. */
interface Line {
  readonly text: string
  readonly whole: boolean
}

/** Cuts bytes at line ends; holds at most one line of the limit's length. */
export class LineCutter {
  private rest: Array<Buffer> = []
  private length = 0

  cut(chunk: Buffer): ReadonlyArray<Line> {
    const lines: Array<Line> = []
    let from = 0
    for (let end = chunk.indexOf(10); end !== -1; end = chunk.indexOf(10, from)) {
      this.keep(chunk.subarray(from, end))
      lines.push(this.line())
      from = end + 1
    }
    this.keep(chunk.subarray(from))
    return lines
  }

  /** Of a line that is too long its beginning is kept. */
  private keep(bytes: Buffer): void {
    if (bytes.length === 0) return
    if (this.length <= lineLimit) this.rest.push(bytes)
    this.length += bytes.length
    if (this.length > lineLimit) this.rest = [Buffer.concat(this.rest).subarray(0, keptChars)]
  }

  private line(): Line {
    const text = Buffer.concat(this.rest).toString("utf8")
    const whole = this.length <= lineLimit
    this.rest = []
    this.length = 0
    return { text, whole }
  }
}

const linesOf = <A>(
  lines: ReadonlyArray<Line>,
  read: Read<A>
): Effect.Effect<ReadonlyArray<A | VenueHeartbeat | UnreadableLine>, VenueUnanswered> =>
  Effect.suspend(() => {
    const found: Array<A | VenueHeartbeat | UnreadableLine> = []
    for (const line of lines) {
      const heard = lineOf(line, read)
      if (heard !== null && typeof heard === "object" && "heartbeat" in heard && heard.version !== venueStreamVersion) {
        const reason = `the venue streams version ${heard.version}, and this service reads version ${venueStreamVersion}`
        return Effect.fail(new VenueUnanswered({ reason }))
      }
      found.push(heard)
    }
    return Effect.succeed(found)
  })

const lineOf = <A>({ text, whole }: Line, read: Read<A>): A | VenueHeartbeat | UnreadableLine => {
  if (!whole) return unreadable(text, "longer than 1 MiB")
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return unreadable(text, "no JSON")
  }
  const isHeartbeat = typeof value === "object" && value !== null && "heartbeat" in value
  const result: Result.Result<A | VenueHeartbeat, unknown> = isHeartbeat ? heartbeatLine(value) : read(value)
  return Result.isSuccess(result) ? result.success : unreadable(text, "not what the stream should hold")
}

/** Number and account are looked for by their names, in whatever can be seen of the line. */
const unreadable = (text: string, reason: string): UnreadableLine => {
  const number = /"number":\s*([1-9][0-9]{0,15})[,}\s]/.exec(text)?.[1]
  const account = /"account":\s*"([A-Za-z0-9][A-Za-z0-9:_-]{0,63})"/.exec(text)?.[1]
  return {
    unreadable: text.slice(0, keptChars),
    reason,
    number: number === undefined || !Number.isSafeInteger(Number(number)) ? null : Number(number),
    account: account ?? null
  }
}
