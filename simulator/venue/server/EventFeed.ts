/**
 * The stream of numbered events: every reader goes from its own number through what the venue keeps to what happens now, at
 * its own pace, so that one who is behind costs no memory. What a fault does to an event is decided once, when it happens;
 * one that is read again later comes as it was.
 */
import type { ServerResponse } from "node:http"
import { refOfFact, type VenueEvent } from "../../../src/machines/venue/VenueEvent.ts"
import type { FaultKind } from "../../../src/venue/VenueCommand.ts"
import type { Venue } from "../core/Venue.ts"
import type { Faults, Target } from "./Faults.ts"
import { liedFact } from "./lyingFaults.ts"
import { LineReader, type LineReaderLimits } from "./LineReader.ts"
import { broken, encoded, heartbeatLine } from "./streamLines.ts"

/** An event that has just happened, as readers get it; no lines: it is not sent. */
interface Line {
  readonly lines: ReadonlyArray<Buffer>
  readonly lateMillis: number
}

interface Reader {
  readonly line: LineReader
  /** Of the last event that it has been given. */
  position: number
  /** Of the last event before it came: no fault strikes what is read again. */
  readonly cameAt: number
}

type Source = Pick<Venue, "number" | "now" | "eventsAfter">

/** Events whose lines are kept; older ones are encoded again for whoever asks for them. */
const keptLines = 4_096
/** Events that are read from the venue at a time. */
const chunk = 500
/** Refs that a fault has marked. */
const markedRefs = 10_000

export class EventFeed {
  private readonly source: Source
  private readonly faults: Faults
  private readonly limits: LineReaderLimits
  private readonly readers = new Set<Reader>()
  private readonly recent = new Map<number, Line>()
  /** Refs of calls of which nothing more is heard, and of those whose acknowledgement comes late. */
  private readonly muted = new Set<string>()
  private readonly late = new Map<string, number>()

  constructor(source: Source, faults: Faults, limits: LineReaderLimits) {
    this.source = source
    this.faults = faults
    this.limits = limits
  }

  get size(): number {
    return this.readers.size
  }

  /** Opens a stream after a number; false, and nothing is answered, when events so far back are not kept. */
  open(response: ServerResponse, after: number): boolean {
    if (this.source.eventsAfter(after) === null) return false
    const reader: Reader = {
      line: new LineReader(response, this.limits, () => this.pump(reader)),
      position: after,
      cameAt: this.source.number
    }
    this.readers.add(reader)
    response.on("close", () => this.readers.delete(reader))
    if (this.faults.strike(["silent"], stream) === null) reader.line.write(heartbeatLine(this.source))
    this.pump(reader)
    return true
  }

  /** Takes note of an event; `flush` sends it. */
  happened(event: VenueEvent): void {
    if (this.readers.size === 0) return
    this.recent.set(event.number, this.decide(event))
    if (this.recent.size > keptLines) {
      const [oldest] = this.recent.keys()
      if (oldest !== undefined) this.recent.delete(oldest)
    }
  }

  flush(): void {
    for (const reader of this.readers) this.pump(reader)
  }

  /** A heartbeat for everybody who has had every event; who is behind has lines to read anyway. */
  beat(): void {
    if (this.readers.size === 0 || this.faults.strike(["silent"], stream) !== null) return
    const line = heartbeatLine(this.source)
    for (const reader of this.readers) {
      if (reader.position === this.source.number && reader.line.ready) reader.line.write(line)
    }
  }

  /** No event of a call's ref is sent from now on, until faults are cleared. */
  mute(ref: string): void {
    if (this.muted.size < markedRefs) this.muted.add(ref)
  }

  /** The acknowledgement of an order comes this much later than its fills. */
  acknowledgeLate(ref: string, delayMillis: number): void {
    if (this.late.size < markedRefs) this.late.set(ref, delayMillis)
  }

  clear(): void {
    this.muted.clear()
    this.late.clear()
  }

  /** Cuts the reader that came first. */
  cutOne(): void {
    const [first] = this.readers
    if (first === undefined) return
    this.readers.delete(first)
    first.line.cut()
  }

  end(): void {
    for (const { line } of this.readers) line.end()
  }

  private pump(reader: Reader): void {
    while (reader.line.ready && reader.position < this.source.number) {
      const line = this.lineFor(reader, reader.position + 1)
      if (line === undefined) this.readOn(reader)
      else this.give(reader, reader.position + 1, line)
    }
  }

  private lineFor({ cameAt }: Reader, number: number): Line | undefined {
    return number <= cameAt ? undefined : this.recent.get(number)
  }

  /** Gives a reader the next events from what the venue keeps, up to those whose lines are here. */
  private readOn(reader: Reader): void {
    const events = this.source.eventsAfter(reader.position)
    if (events === null || events.length === 0) return reader.line.cut()
    for (const event of events.slice(0, chunk)) {
      if (!reader.line.ready || this.lineFor(reader, event.number) !== undefined) return
      this.give(reader, event.number, { lines: [encoded(event)], lateMillis: 0 })
    }
  }

  private give(reader: Reader, number: number, { lines, lateMillis }: Line): void {
    reader.position = number
    if (lateMillis > 0) reader.line.writeLater(lines, lateMillis)
    else for (const line of lines) reader.line.write(line)
  }

  private decide(event: VenueEvent): Line {
    const ref = refOfFact(event.fact)
    const symbol = symbolOf(event)
    const onStream: Target = { route: "events", symbol }
    const ofCall: Target = { route: routeOf(event), symbol }
    const struck = (kind: FaultKind) => this.faults.strike([kind], onStream) ?? this.faults.strike([kind], ofCall)
    if ((ref !== null && this.muted.has(ref)) || this.faults.strike(["silent"], onStream) !== null) return nothing
    if (struck("drop-events") !== null) return nothing
    const line = encoded({ ...event, fact: liedFact(this.faults, [onStream, ofCall], event.fact) })
    if (this.faults.strike(["broken-json"], onStream) !== null) return { lines: [broken(line)], lateMillis: 0 }
    const lines = struck("duplicate-events") === null ? [line] : [line, line]
    const late = event.fact.type === "order" && ref !== null ? this.late.get(ref) : 0
    const moved = this.faults.strike(["slow"], onStream) ?? struck("reorder-events")
    return { lines, lateMillis: Math.max(late ?? 0, moved?.delayMillis ?? 0) }
  }
}

const stream: Target = { route: "events", symbol: null }
const nothing: Line = { lines: [], lateMillis: 0 }

/** The route of the calls that such an event comes of. */
const routeOf = ({ fact }: VenueEvent): Target["route"] => {
  switch (fact.type) {
    case "order":
    case "fill":
    case "bust":
      return "order"
    case "rfq":
    case "quote":
      return "rfq"
    case "contract":
      return "accept"
    case "swap":
      return "take"
    default:
      return null
  }
}

const symbolOf = ({ fact }: VenueEvent): string | null => {
  switch (fact.type) {
    case "order":
      return fact.order.symbol
    case "fill":
      return fact.fill.symbol
    case "funding":
      return fact.funding.symbol
    case "rfq":
      return fact.rfq.symbol
    case "contract":
      return fact.contract.symbol
    case "swap":
      return fact.swap.symbol
    case "listing":
      return fact.symbol
    default:
      return null
  }
}
