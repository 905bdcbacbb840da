/**
 * The stream of numbered events. Each reader advances from its own number through the venue's kept events to the live ones, at
 * its own pace, so that a slow reader costs no memory. The fault on an event is decided once, when it occurs; a later read
 * returns the event unchanged.
 */
import type { ServerResponse } from "node:http"
import { refOfFact, type VenueEvent } from "../../../src/machines/venue/VenueEvent.ts"
import type { FaultKind } from "../../../src/venue/VenueCommand.ts"
import type { Venue } from "../core/Venue.ts"
import type { Faults, Target } from "./Faults.ts"
import { liedFact } from "./lyingFaults.ts"
import { LineReader, type LineReaderLimits } from "./LineReader.ts"
import { broken, encoded, heartbeatLine } from "./streamLines.ts"

/** A new event in its delivered form; without lines it is not sent. */
interface Line {
  readonly lines: ReadonlyArray<Buffer>
  readonly lateMillis: number
}

interface Reader {
  readonly line: LineReader
  /** Number of the last event passed to the reader. */
  position: number
  /** Number of the last event before the reader connected: faults do not apply to repeated reads. */
  readonly cameAt: number
  /** False on a stream that is silent since its opening: its first line must be a heartbeat, which carries the version. */
  begun: boolean
}

type Source = Pick<Venue, "number" | "now" | "eventsAfter">

/** Limit on encoded events; older ones are encoded again on request. */
const keptLines = 4_096
/** Events read from the venue at a time. */
const chunk = 500
/** Limit on refs marked by faults. */
const markedRefs = 10_000

export class EventFeed {
  private readonly source: Source
  private readonly faults: Faults
  private readonly limits: LineReaderLimits
  private readonly readers = new Set<Reader>()
  private readonly recent = new Map<number, Line>()
  /** Refs of calls without further events, and of those with a late acknowledgement. */
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

  /** Opens a stream of the events after a number. Returns false, and sends nothing, if events so old are no longer kept. */
  open(response: ServerResponse, after: number): boolean {
    if (this.source.eventsAfter(after) === null) return false
    const reader: Reader = {
      line: new LineReader(response, this.limits, () => this.pump(reader)),
      position: after,
      cameAt: this.source.number,
      begun: false
    }
    this.readers.add(reader)
    response.on("close", () => this.readers.delete(reader))
    if (this.faults.strike(["silent"], stream) === null) this.begin(reader, heartbeatLine(this.source))
    return true
  }

  /** Handles an event; `flush` sends it. */
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

  /** Sends a heartbeat to all readers that are up to date; slower ones still have lines to read. */
  beat(): void {
    if (this.readers.size === 0 || this.faults.strike(["silent"], stream) !== null) return
    const line = heartbeatLine(this.source)
    for (const reader of this.readers) {
      if (!reader.begun) this.begin(reader, line)
      else if (reader.position === this.source.number && reader.line.ready) reader.line.write(line)
    }
  }

  /** Suppresses events of a call's ref until faults are cleared. */
  mute(ref: string): void {
    if (this.muted.size < markedRefs) this.muted.add(ref)
  }

  /** Sends an order's acknowledgement `delayMillis` after its fills. */
  acknowledgeLate(ref: string, delayMillis: number): void {
    if (this.late.size < markedRefs) this.late.set(ref, delayMillis)
  }

  clear(): void {
    this.muted.clear()
    this.late.clear()
  }

  /** Cuts the reader that connected first. */
  cutOne(): void {
    const [first] = this.readers
    if (first === undefined) return
    this.readers.delete(first)
    first.line.cut()
  }

  end(): void {
    for (const { line } of this.readers) line.end()
  }

  private begin(reader: Reader, heartbeat: Buffer): void {
    reader.begun = true
    reader.line.write(heartbeat)
    this.pump(reader)
  }

  private pump(reader: Reader): void {
    while (reader.begun && reader.line.ready && reader.position < this.source.number) {
      const line = this.lineFor(reader, reader.position + 1)
      if (line === undefined) this.readOn(reader)
      else this.give(reader, reader.position + 1, line)
    }
  }

  private lineFor({ cameAt }: Reader, number: number): Line | undefined {
    return number <= cameAt ? undefined : this.recent.get(number)
  }

  /** Sends a reader the next events from the venue's store, up to the first event that is encoded already. */
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

/** The route of the calls that cause an event of this kind. */
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
