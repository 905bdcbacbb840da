/**
 * The faults of a simulation (architecture, Proof): processes that are killed between two tasks or at a point of the
 * commit path, replaced while they live, or paused; a store that is away, and commits lost before or after they are
 * written; receivers that are slow, lie or are dead; a venue that restarts or is cut off; jumps of time.
 */
import type { SeededRandom } from "../../simulator/partner/SeededRandom.ts"
import { type PausePoint, pausePoints, setPauseTrigger } from "../../src/runtime/engine/PausePoints.ts"
import { type Manner, manners } from "./Network.ts"
import type { SimProcess } from "./SimProcess.ts"
import { LaneKilled } from "./Timeline.ts"
import type { World } from "./World.ts"

type Strike = "kill" | "crash" | "replace" | "stall" | "away" | "receiver" | "venue" | "jump"

/** The kinds of faults in a run. Runs differ, because a process that dies soon shows few other faults. */
interface Weather {
  readonly strikes: ReadonlyArray<Strike>
  /** The share of pauses that exceed the age at which another worker takes over a delivery. */
  readonly longPauses: number
  readonly manners: ReadonlyArray<Manner>
  /** The share of batches that are lost. */
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
  /** The longest time of a batch without faults, ms. */
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

  /** Begins the faults. */
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

  /** Ends the faults and repairs their effects. One process is then running or starting. */
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

  /** In half of the runs, kills the process up to three times during its end-of-day run. */
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

  /** Removes the triggers from the commit path. */
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

  /** Pauses a process so long that another one may take over. */
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
