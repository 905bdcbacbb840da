/**
 * The faults of a simulation: processes killed between two tasks or at a point of the commit path, replaced while they
 * still live, paused; the store away, commits lost before and after; receivers that are slow, lie or are dead; the venue
 * started again or cut off, and time that jumps (architecture, Proof).
 */
import type { SeededRandom } from "../../simulator/partner/SeededRandom.ts"
import { type PausePoint, pausePoints, setPauseTrigger } from "../../src/runtime/engine/PausePoints.ts"
import { type Manner, manners } from "./Network.ts"
import type { SimProcess } from "./SimProcess.ts"
import { LaneKilled } from "./Timeline.ts"
import type { World } from "./World.ts"

type Strike = "kill" | "crash" | "replace" | "stall" | "away" | "receiver" | "venue" | "jump"

/** The weather of a run. Faults of one kind get runs of their own: a process that dies soon shows few others. */
interface Weather {
  readonly strikes: ReadonlyArray<Strike>
  /** Pauses longer than the age at which a delivery's lease is taken over. */
  readonly longPauses: number
  readonly manners: ReadonlyArray<Manner>
  /** How often a batch is lost. */
  readonly losses: number
}

const weathers: ReadonlyArray<Weather> = [
  {
    strikes: ["kill", "crash", "crash", "replace", "stall", "away", "receiver", "receiver", "venue", "jump"],
    longPauses: 0.1,
    manners,
    losses: 0.03
  },
  { strikes: ["receiver", "receiver", "away", "crash", "venue"], longPauses: 0, manners, losses: 0.3 },
  {
    strikes: ["stall", "receiver", "receiver", "venue", "jump"],
    longPauses: 0.7,
    manners: ["Late", "Late", "Liar"],
    losses: 0.02
  }
]

export class Chaos {
  private readonly world: World
  private readonly random: SeededRandom
  private readonly batchRandom: SeededRandom
  private readonly weather: Weather
  /** Longest time a batch takes when nothing goes wrong, ms. */
  private readonly slowest: number
  private raging = true
  private launching = 0
  private armed: { readonly process: SimProcess; readonly point: PausePoint } | null = null

  constructor(world: World) {
    this.world = world
    this.random = world.fork()
    this.batchRandom = world.fork()
    this.weather = this.random.pick(weathers)
    this.slowest = this.random.pick([12, 12, 80])
  }

  /** Lets the faults begin. */
  start(): void {
    for (const point of pausePoints) setPauseTrigger(point, () => this.pass(point))
    this.world.batchFault = () => {
      const { batchRandom } = this
      const latencyMillis = batchRandom.between(0, this.slowest)
      if (!batchRandom.chance(this.weather.losses)) return { latencyMillis }
      return {
        latencyMillis,
        lost: batchRandom.pick(["before-commit", "after-commit"]),
        awayMillis: batchRandom.between(0, 2_500)
      }
    }
    this.next()
  }

  /** Ends the faults: what is broken is mended, and one process is up or on its way. */
  stop(): void {
    this.raging = false
    this.release()
    const { world } = this
    world.batchFault = () => null
    world.awayUntil = 0
    world.network.manners.clear()
    world.calm = true
    world.venue.rest()
    const newest = world.processes.at(-1)
    if (newest !== undefined) newest.lane.stalledUntil = 0
    if (this.launching === 0 && newest?.lane.alive !== true) world.launch()
  }

  /** In half of the runs the process that makes the night's work is killed at it, up to three times. */
  disturbNight(): void {
    const { random, world } = this
    let at = 0
    for (let left = random.chance(0.5) ? random.between(1, 3) : 0; left > 0; left--) {
      at += random.between(1, 120)
      world.outside.after(at, () => {
        const newest = world.processes.findLast((process) => process.ready)
        if (newest !== undefined) this.kill(newest)
      })
    }
  }

  /** Takes the triggers off the commit path again. */
  release(): void {
    for (const point of pausePoints) setPauseTrigger(point, null)
    this.armed = null
  }

  private next(): void {
    this.world.outside.after(this.random.between(200, 2_500), () => {
      if (!this.raging) return
      this.strike()
      this.next()
    })
  }

  private strike(): void {
    const { random, world } = this
    const newest = world.processes.findLast((process) => process.ready)
    if (newest === undefined) return
    switch (random.pick(this.weather.strikes)) {
      case "kill":
        return this.kill(newest)
      case "crash":
        this.armed = { process: newest, point: random.pick(pausePoints) }
        return
      case "replace":
        return this.launchIn(0)
      case "stall":
        return this.stall(newest)
      case "away":
        world.awayUntil = world.timeline.now + random.between(50, 3_000)
        return
      case "venue":
        return this.strikeVenue()
      case "jump":
        return world.venue.jumpInCall(random.between(4_000, 20_000))
      case "receiver": {
        const manner = random.pick(this.weather.manners)
        world.network.manners.set(random.pick(world.partners).url, manner)
        world.note(`a receiver becomes ${manner}`)
      }
    }
  }

  /** A long pause; while it lasts, another process may take over. */
  private stall(process: SimProcess): void {
    const { random, world } = this
    const millis = random.chance(this.weather.longPauses) ? random.between(61_000, 90_000) : random.between(100, 4_000)
    process.lane.stalledUntil = world.timeline.now + millis
    world.note(`${process.name} pauses for ${millis}`)
    if (millis > 5_000 || random.chance(0.5)) this.launchIn(random.between(50, 1_000))
  }

  private strikeVenue(): void {
    const { venue } = this.world
    const draw = this.random.next()
    if (draw < 0.3) venue.restart()
    else if (draw < 0.6) venue.cut()
    else venue.forgetNext()
  }

  private kill(process: SimProcess): void {
    this.world.note(`${process.name} is killed`)
    process.lane.kill()
    this.world.counts.deaths++
    this.launchIn(this.random.between(20, 600))
  }

  private launchIn(millis: number): void {
    this.launching++
    this.world.outside.after(millis, () => {
      this.launching--
      this.world.launch()
    })
  }

  private pass(point: PausePoint): void {
    const { armed, world } = this
    if (armed?.point !== point || world.timeline.current !== armed.process.lane) return
    this.armed = null
    world.note(`${armed.process.name} dies at ${point}`)
    this.kill(armed.process)
    throw new LaneKilled()
  }
}
