/**
 * A stream of the venue: lines of JSON on one response that stays open. A line that is too long or can't be decoded is passed on
 * as bytes (A2-115). A stream without a complete line for 5 s is ended, and a stream whose first line names another version is
 * not read. Unread data stays in the socket (backpressure).
 */
import { Effect, Redacted, Result, Schema, Stream } from "effect"
import { enable } from "effect/schema/SchemaJITCompiler"
import { type ClientRequest, type IncomingMessage, request as plainRequest } from "node:http"
import { Agent, request as tlsRequest } from "node:https"
import { ChannelMessage } from "../../../machines/venue/marketData.ts"
import { isHeartbeat, VenueEvent, VenueHeartbeat, venueStreamVersion } from "../../../machines/venue/VenueEvent.ts"
import { type Line, LineCutter } from "../../../venue/LineCutter.ts"
import { type UnreadableLine, VenueEventsGone, VenueUnanswered } from "../../ports/Venue.ts"
import type { VenueConnection } from "../../ports/VenueConnection.ts"

/** The longest line that is read, bytes. */
export const lineLimit = 1024 * 1024
/** The number of characters of an unreadable line that are kept. */
const keptChars = 4_096
/** The timeout for a complete line, ms; a heartbeat is due every second. */
const silence = 5_000

type Read<A> = (value: unknown) => Result.Result<A, unknown>

// Compiles the decoders of events and channel messages once. Compiled code takes a third of the time of an interpreted
// schema.
enable(VenueEvent.ast)
enable(ChannelMessage.ast)
/** Decodes a line of the event stream; fails for a line of another form. */
export const eventLine: Read<VenueEvent> = Schema.decodeUnknownResult(VenueEvent)
/** Decodes one event of a page, so that an unreadable event does not hide the others. */
export const pagedEvent = (value: unknown): VenueEvent | UnreadableLine => {
  const read = eventLine(value)
  return Result.isSuccess(read) ? read.success : unreadable(JSON.stringify(value), "not what the page should hold")
}
/** Decodes a line of the market data stream; fails for a line of another form. */
export const channelLine: Read<ChannelMessage> = Schema.decodeUnknownResult(ChannelMessage)
const heartbeatLine = Schema.decodeUnknownResult(VenueHeartbeat)

/** `after`: for a stream of events, whose start may be gone (410); otherwise null. `patience`: the longest silence, ms. */
export const venueLines = <A>(
  connection: VenueConnection,
  path: string,
  read: Read<A>,
  after: number | null,
  patience: number = silence
): Stream.Stream<A | VenueHeartbeat | UnreadableLine, VenueUnanswered | VenueEventsGone> =>
  Stream.unwrap(
    Effect.map(
      Effect.acquireRelease(
        Effect.sync(() => connect(connection, path)),
        (opened) => Effect.sync(() => opened.destroy())
      ),
      (opened) => {
        const reader = new LineReader(read)
        return Stream.fromAsyncIterable(pieces(opened, patience), failureOf(after)).pipe(
          Stream.mapEffect((piece) => reader.take(piece), { concurrency: 1 }),
          Stream.flattenIterable
        )
      }
    )
  )

/**
 * The error with which a stream ends; its reason may be shown. `status`: that of a response that was no stream, otherwise
 * null.
 */
class StreamOver extends Error {
  readonly status: number | null

  constructor(message: string, status: number | null = null) {
    super(message)
    this.status = status
  }
}

const failureOf =
  (after: number | null) =>
  (error: unknown): VenueUnanswered | VenueEventsGone =>
    error instanceof StreamOver && error.status === 410 && after !== null
      ? new VenueEventsGone({ after })
      : new VenueUnanswered({ reason: error instanceof StreamOver ? error.message : "the stream broke" })

const connect = ({ url, key, ca }: VenueConnection, path: string): ClientRequest => {
  const target = new URL(path, url)
  const token = Redacted.value(key)
  const headers = token === "" ? {} : { authorization: `Bearer ${token}` }
  return target.protocol === "https:"
    ? tlsRequest(target, { headers, agent: new Agent({ keepAlive: false, ...(ca === null ? {} : { ca }) }) })
    : plainRequest(target, { headers, agent: false })
}

/** Complete lines as they arrive, one piece for each read of the socket. */
async function* pieces(opened: ClientRequest, patience: number): AsyncGenerator<ReadonlyArray<Line>> {
  const incoming = await answerOf(opened, patience)
  const { statusCode = 0 } = incoming
  if (statusCode !== 200) throw new StreamOver(`status ${statusCode}`, statusCode)
  let receivedAt = performance.now()
  // Silence means that the venue sends nothing, or only bytes of a line that never ends. Received lines that wait for their
  // reader are no silence.
  const watch = setInterval(() => {
    if (incoming.readableLength === 0 && performance.now() - receivedAt > patience) {
      incoming.destroy(new StreamOver(`silent for ${patience} ms`))
    }
  }, patience / 10)
  const cutter = new LineCutter(lineLimit)
  try {
    for await (const chunk of incoming) {
      const lines = cutter.cut(chunk as Buffer)
      if (lines.length === 0) continue
      yield lines
      // Silence is measured from here on, because the time that the reader took for the lines is not the venue's silence.
      receivedAt = performance.now()
    }
  } finally {
    clearInterval(watch)
    opened.destroy()
  }
}

const answerOf = (opened: ClientRequest, patience: number): Promise<IncomingMessage> =>
  new Promise((resolve, reject) => {
    const late = setTimeout(() => opened.destroy(new StreamOver(`no answer within ${patience} ms`)), patience)
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

/** Reads the lines of one connection, after its first line has confirmed the version. */
class LineReader<A> {
  private readonly read: Read<A>
  private begun = false

  constructor(read: Read<A>) {
    this.read = read
  }

  take(lines: ReadonlyArray<Line>): Effect.Effect<ReadonlyArray<A | VenueHeartbeat | UnreadableLine>, VenueUnanswered> {
    return Effect.suspend(() => {
      const found: Array<A | VenueHeartbeat | UnreadableLine> = []
      for (const { text, whole } of lines) {
        const value = whole ? jsonOf(text) : tooLong
        const wrong = this.wrongVersion(value)
        if (wrong !== null) return Effect.fail(new VenueUnanswered({ reason: wrong }))
        found.push(lineOf(text, value, this.read))
      }
      return Effect.succeed(found)
    })
  }

  /** A heartbeat of another version may have any other form: its version is checked first. */
  private wrongVersion(value: unknown): string | null {
    if (isHeartbeat(value)) {
      this.begun = true
      return "version" in value && value.version === venueStreamVersion
        ? null
        : `the venue streams another version than ${venueStreamVersion}, which this service reads`
    }
    return this.begun ? null : "the venue's stream does not begin with its version"
  }
}

const tooLong = Symbol("longer than a line may be")
const noJson = Symbol("no JSON")

const jsonOf = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return noJson
  }
}

const lineOf = <A>(text: string, value: unknown, read: Read<A>): A | VenueHeartbeat | UnreadableLine => {
  if (value === tooLong) return unreadable(text, "longer than 1 MiB")
  if (value === noJson) return unreadable(text, "no JSON")
  const result: Result.Result<A | VenueHeartbeat, unknown> = isHeartbeat(value) ? heartbeatLine(value) : read(value)
  return Result.isSuccess(result) ? result.success : unreadable(text, "not what the stream should hold")
}

/** The line can't be parsed, so number and account are searched by their names in its text. */
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
