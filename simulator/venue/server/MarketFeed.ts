/**
 * Market data for readers: a snapshot of each subscription, then the changes. A message is encoded once for all readers, and
 * not at all without one.
 */
import type { ServerResponse } from "node:http"
import type { Channel, ChannelMessage } from "../../../src/machines/venue/marketData.ts"
import type { FaultKind } from "../../../src/venue/VenueCommand.ts"
import { messagesKept } from "../core/Outbox.ts"
import type { Venue } from "../core/Venue.ts"
import type { Faults, Target } from "./Faults.ts"
import { LineReader, type LineReaderLimits } from "./LineReader.ts"
import { broken, encoded, heartbeatLine } from "./streamLines.ts"

export interface Subscription {
  readonly channel: Channel
  readonly symbol: string
}

interface Topic extends Subscription {
  readonly readers: Set<LineReader>
  /** Messages that the next flush sends to this reader. */
  waiting: Array<ChannelMessage>
  /** The last snapshot sent, encoded, so that further readers get the same bytes. */
  snapshot: { readonly seq: number; readonly line: Buffer } | null
}

type Source = Pick<Venue, "number" | "now" | "snapshot">

/**
 * The most messages of a topic that one flush sends. If more wait, as after a jump of time, one snapshot replaces
 * them. A ticker may have the mark that decides an event, so a flush sends every ticker that the outbox has kept.
 */
const burst: Readonly<Record<Channel, number>> = { ticker: messagesKept, book: 32, trades: 32 }

export class MarketFeed {
  private readonly source: Source
  private readonly faults: Faults
  private readonly limits: LineReaderLimits
  private readonly topics = new Map<string, Topic>()
  private readonly subscribed = new Map<LineReader, ReadonlyArray<Topic>>()
  /** For a fault that holds marks back: the ticker of each market at the beginning of the fault. */
  private readonly frozen = new Map<string, ChannelMessage>()

  constructor(source: Source, faults: Faults, limits: LineReaderLimits) {
    this.source = source
    this.faults = faults
    this.limits = limits
  }

  get size(): number {
    return this.subscribed.size
  }

  /** Number of subscriptions of all readers. */
  get subscriptions(): number {
    let count = 0
    for (const topics of this.subscribed.values()) count += topics.length
    return count
  }

  /** The current state of a channel; null: it does not exist. */
  snapshot({ channel, symbol }: Subscription): ChannelMessage | null {
    const message = this.source.snapshot(channel, symbol)
    if (message === null || channel !== "ticker") return message
    return this.faults.awaits(["stale-marks"], { route: "market-data", symbol })
      ? (this.frozen.get(symbol) ?? message)
      : message
  }

  /** Freezes the current marks, for a fault that holds them back. */
  freeze(symbols: Iterable<string>): void {
    for (const symbol of symbols) {
      const message = this.snapshot({ channel: "ticker", symbol })
      if (message !== null) this.frozen.set(symbol, message)
    }
  }

  /** Opens a stream of existing channels. */
  open(response: ServerResponse, subscriptions: ReadonlyArray<Subscription>): void {
    const reader = new LineReader(response, this.limits, () => undefined)
    const topics = subscriptions.map((subscription) => this.topicOf(subscription))
    this.subscribed.set(reader, topics)
    response.on("close", () => this.forget(reader))
    const silent = this.faults.strike(["silent"], stream) !== null
    if (!silent) reader.write(heartbeatLine(this.source))
    for (const topic of topics) {
      if (!silent) this.giveSnapshot(topic, [reader])
      topic.readers.add(reader)
    }
  }

  /** Handles a message; `flush` sends it. */
  happened(message: ChannelMessage): void {
    const topic = this.topics.get(keyOf(message))
    if (topic === undefined) return
    if (topic.waiting.length <= burst[topic.channel]) topic.waiting.push(message)
  }

  flush(): void {
    for (const topic of this.topics.values()) {
      const messages = topic.waiting
      if (messages.length === 0) continue
      topic.waiting = []
      if (messages.length > burst[topic.channel]) this.giveSnapshot(topic, topic.readers)
      else for (const message of messages) this.send(topic, message)
    }
  }

  beat(): void {
    if (this.subscribed.size === 0 || this.faults.strike(["silent"], stream) !== null) return
    const line = heartbeatLine(this.source)
    for (const reader of this.subscribed.keys()) reader.write(line)
  }

  clear(): void {
    this.frozen.clear()
  }

  /** Cuts the reader that connected first. */
  cutOne(): void {
    const [first] = this.subscribed.keys()
    if (first === undefined) return
    this.forget(first)
    first.cut()
  }

  end(): void {
    for (const reader of this.subscribed.keys()) reader.end()
  }

  private send(topic: Topic, message: ChannelMessage): void {
    const target: Target = { route: "market-data", symbol: topic.symbol }
    const struck = (kind: FaultKind) => this.faults.strike([kind], target)
    if (struck("silent") !== null || struck("drop-events") !== null) return
    if (topic.channel === "ticker" && struck("stale-marks") !== null) return
    const line = encoded(message)
    const lines =
      struck("broken-json") !== null ? [broken(line)] : struck("duplicate-events") === null ? [line] : [line, line]
    const late = struck("slow") ?? struck("reorder-events")
    for (const reader of topic.readers) {
      if (late !== null) reader.writeLater(lines, late.delayMillis)
      else for (const each of lines) reader.write(each)
    }
  }

  private giveSnapshot(topic: Topic, readers: Iterable<LineReader>): void {
    const message = this.snapshot(topic)
    if (message === null) return
    if (topic.snapshot?.seq !== message.seq) topic.snapshot = { seq: message.seq, line: encoded(message) }
    for (const reader of readers) reader.write(topic.snapshot.line)
  }

  private topicOf({ channel, symbol }: Subscription): Topic {
    const key = keyOf({ channel, symbol })
    const topic = this.topics.get(key) ?? { channel, symbol, readers: new Set(), waiting: [], snapshot: null }
    this.topics.set(key, topic)
    return topic
  }

  private forget(reader: LineReader): void {
    for (const topic of this.subscribed.get(reader) ?? []) {
      topic.readers.delete(reader)
      if (topic.readers.size === 0) this.topics.delete(keyOf(topic))
    }
    this.subscribed.delete(reader)
  }
}

const stream: Target = { route: "market-data", symbol: null }
const keyOf = ({ channel, symbol }: Subscription): string => `${channel}:${symbol}`
