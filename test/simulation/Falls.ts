/**
 * Markets that fall, rise and gap, in one of three runs: by a jump of up to half in one mark, or step by step,
 * sometimes with a halt of the perpetual in between. Accounts with leverage get margin calls and close-outs, and some
 * lose more than their money.
 */
import { SeededRandom } from "../../simulator/partner/SeededRandom.ts"
import { perpetual } from "./OrderDesk.ts"
import type { World } from "./World.ts"

/** The price after a move, as a multiple of the price before. */
const moves = [0.5, 0.62, 0.7, 0.7, 0.78, 0.85, 1.25, 1.45, 1.7] as const
const stepsOfSlide = 5

export class Falls {
  private readonly world: World
  /** A random sequence of its own, so that its draws do not change other runs. */
  private readonly random: SeededRandom
  private isHalted = false
  private raging = true

  constructor(world: World) {
    this.world = world
    this.random = new SeededRandom(world.seed ^ 0x2545f491)
  }

  start(): void {
    if (this.world.falls) this.next()
  }

  /** Stops the moves and resumes trading. The prices stay. */
  stop(): void {
    this.raging = false
    this.resume()
  }

  private next(): void {
    this.later(this.random.between(1_000, 6_000), () => {
      this.move()
      this.next()
    })
  }

  private later(millis: number, task: () => void): void {
    this.world.outside.after(millis, () => {
      if (this.raging) task()
    })
  }

  private move(): void {
    const { random } = this
    if (random.chance(0.3)) this.halt()
    const share = random.pick(moves)
    if (random.chance(0.6)) return this.jump(share)
    for (let step = 0; step < stepsOfSlide; step++) {
      this.later(step * random.between(200, 900), () => this.jump(share ** (1 / stepsOfSlide)))
    }
  }

  private jump(share: number): void {
    const { world } = this
    world.venue.desk.gap(share)
    world.note(`the markets go to ${world.venue.desk.price}`)
  }

  private halt(): void {
    if (this.isHalted) return
    this.isHalted = true
    this.world.venue.core.apply({ type: "command", command: { type: "halt", symbol: perpetual } })
    this.later(this.random.between(500, 8_000), () => this.resume())
  }

  private resume(): void {
    if (!this.isHalted) return
    this.isHalted = false
    this.world.venue.core.apply({ type: "command", command: { type: "resume", symbol: perpetual } })
  }
}
