/**
 * Sessions of calls (`src/venue/callSession.ts`): a line for each call, executed on arrival under its faults, and a line for
 * its outcome. A fault that breaks the connection breaks the whole session, as at a real venue. Calls in flight are limited:
 * over the limit no further lines are read.
 */
import { Result, Schema } from "effect"
import { enable } from "effect/schema/SchemaJITCompiler"
import type { Duplex } from "node:stream"
import { SessionAnswer, SessionCall, sessionCallLimit, sessionLineLimit } from "../../../src/venue/callSession.ts"
import { type Line, LineCutter } from "../../../src/venue/LineCutter.ts"
import { afterCall, beforeCall } from "./callFaults.ts"
import { broken, encoded, heartbeatLine } from "./streamLines.ts"
import { targetOf } from "./targets.ts"
import type { VenueDesk } from "./VenueDesk.ts"
import { shortened } from "./venueRoutes.ts"
import { WriterClosed } from "./VenueWriter.ts"

/** Limit on bytes of answers that wait for a slow caller. */
const backlogLimit = 4 * 1024 * 1024

export class CallSessions {
  private readonly desk: VenueDesk
  private readonly onCall: () => void
  private readonly sessions = new Set<Session>()

  /** `onCall`: called for every line. */
  constructor(desk: VenueDesk, onCall: () => void) {
    this.desk = desk
    this.onCall = onCall
  }

  /** Takes over a connection after the answer to its upgrade. */
  open(socket: Duplex, head: Buffer): void {
    const session = new Session(this.desk, socket, this.onCall)
    this.sessions.add(session)
    socket.on("close", () => this.sessions.delete(session))
    session.begin(head)
  }

  /** Sends a heartbeat to all sessions. */
  beat(): void {
    for (const session of this.sessions) session.beat()
  }

  /** Refuses new calls; each session ends after the answers to its calls. */
  end(): void {
    for (const session of this.sessions) session.end()
  }

  /** Destroys the connections of all open sessions; calls in flight get no answer. */
  cut(): void {
    for (const session of this.sessions) session.cut()
  }
}

class Session {
  private readonly desk: VenueDesk
  private readonly socket: Duplex
  private readonly onCall: () => void
  private readonly cutter = new LineCutter(sessionLineLimit)
  private running = 0
  private ending = false
  /** Answers to send at the end of this turn of the event loop. */
  private out: Array<Buffer> = []

  constructor(desk: VenueDesk, socket: Duplex, onCall: () => void) {
    this.desk = desk
    this.socket = socket
    this.onCall = onCall
    socket.on("data", (chunk: Buffer) => this.take(chunk))
    // The socket's `close` event follows, as after every end of a session.
    socket.on("error", () => this.cut())
    socket.on("end", () => this.end())
  }

  begin(head: Buffer): void {
    this.beat()
    if (head.length > 0) this.take(head)
  }

  beat(): void {
    this.write(heartbeatLine(this.desk.venue))
  }

  end(): void {
    this.ending = true
    this.settle()
  }

  cut(): void {
    this.socket.destroy()
  }

  private take(chunk: Buffer): void {
    if (this.ending) return
    for (const line of this.cutter.cut(chunk)) {
      const value = jsonOf(line)
      const call = readCall(value)
      if (Result.isSuccess(call)) {
        this.running++
        void this.carryOut(call.success)
        continue
      }
      const named = readName(value)
      // A line that names no call can't be answered.
      if (Result.isFailure(named)) return this.cut()
      this.send({ id: named.success.id, outcome: null, trouble: "VenueBadRequest: The call can not be read." })
    }
    if (this.running >= sessionCallLimit) this.socket.pause()
  }

  private async carryOut({ id, ...call }: SessionCall): Promise<void> {
    this.onCall()
    try {
      await this.answer(id, call)
    } catch (error) {
      // A defect of the simulator: the caller gets no answer, and the log has the cause.
      console.error("a call to the simulated venue failed: its caller gets no answer", error)
      this.send({ id, outcome: null, trouble: "The simulator failed; its log says why." })
    }
    this.running--
    if (this.running < sessionCallLimit) this.socket.resume()
    this.settle()
  }

  private async answer(id: number, call: UnnumberedCall): Promise<void> {
    const { faults } = this.desk
    const target = targetOf(this.desk.venue, call)
    switch (faults.strike(beforeCall, target)?.kind) {
      case "timeout-before":
        return
      case "outage":
      case "reset":
        return this.cut()
      case "http-500":
        return this.send({ id, outcome: null, trouble: "status 500" })
    }
    const answer = await this.desk.call(call, target).then(
      (outcome): SessionAnswer => ({ id, outcome, trouble: null }),
      (error: unknown): SessionAnswer => {
        if (!(error instanceof WriterClosed)) throw error
        return { id, outcome: null, trouble: shortened(`VenueClosed: ${error.message}`) }
      }
    )
    const after = faults.strike(afterCall, target)
    if (after?.kind === "timeout-after") return
    const slow = faults.strike(["slow"], target)
    if (slow !== null) await this.desk.sleep(slow.delayMillis)
    this.write(after === null ? encoded(answer) : broken(encoded(answer)))
  }

  private send(answer: SessionAnswer): void {
    this.write(encoded(answer))
  }

  private write(line: Buffer): void {
    if (this.out.length === 0) setImmediate(() => this.flush())
    this.out.push(line)
  }

  private flush(): void {
    const { socket, out } = this
    this.out = []
    if (socket.destroyed || socket.writableEnded) return
    socket.write(out.length === 1 ? out[0] : Buffer.concat(out))
    if (socket.writableLength > backlogLimit) this.cut()
    this.settle()
  }

  /** Ends the session once no call is in flight. */
  private settle(): void {
    if (this.ending && this.running === 0 && this.out.length === 0) this.socket.end()
  }
}

type UnnumberedCall = DistributiveOmit<SessionCall, "id">
type DistributiveOmit<A, K extends PropertyKey> = A extends unknown ? Omit<A, K> : never

enable(SessionCall.ast)
const readCall = Schema.decodeUnknownResult(SessionCall)
const readName = Schema.decodeUnknownResult(Schema.Struct({ id: SessionAnswer.fields.id }))

/** Undefined, which every schema rejects, for invalid JSON. */
const jsonOf = ({ text, whole }: Line): unknown => {
  if (!whole) return undefined
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
