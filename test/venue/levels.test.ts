/**
 * Price levels with waiting objects at the simulated venue, compared with a plain list. Many objects on one level cost
 * no more each.
 */
import { assert, describe, it } from "@effect/vitest"
import { type Direction, Levels, type Waiting } from "../../simulator/venue/core/Levels.ts"
import { SeededRandom } from "../../simulator/partner/SeededRandom.ts"

/** The rule: the nearest level first, on one level in order of arrival; levels above before levels below. */
class PlainLevels {
  private waiting: Array<Waiting<number>> = []

  add(waiting: Waiting<number>): void {
    this.waiting.push(waiting)
  }

  remove(waiting: Waiting<number>): void {
    this.waiting = this.waiting.filter((each) => each !== waiting)
  }

  touched(price: number): Waiting<number> | null {
    const isReached = ({ direction, level }: Waiting<number>) =>
      direction === "AT_OR_ABOVE" ? price >= level : price <= level
    const [first] = this.all().filter(isReached)
    if (first !== undefined) this.remove(first)
    return first ?? null
  }

  all(): ReadonlyArray<Waiting<number>> {
    const of = (direction: Direction, sign: number) =>
      this.waiting
        .filter((each) => each.direction === direction)
        .toSorted((one, other) => (one.level - other.level) * sign)
    return [...of("AT_OR_ABOVE", 1), ...of("AT_OR_BELOW", -1)]
  }
}

describe("levels", () => {
  it.each([1, 2, 3, 4, 5, 6])("random additions, removals and touches equal those of a plain list, seed %i", (seed) => {
    const random = new SeededRandom(seed)
    const levels = new Levels<number>()
    const plain = new PlainLevels()
    const known: Array<Waiting<number>> = []
    for (let n = 0; n < 3_000; n++) {
      if (random.chance(0.55)) {
        const direction = random.chance(0.5) ? "AT_OR_ABOVE" : "AT_OR_BELOW"
        const waiting = levels.add(direction, random.between(1, 400), n)
        known.push(waiting)
        plain.add(waiting)
      } else if (random.chance(0.7) && known.length > 0) {
        // Some of them were touched earlier.
        const waiting = known[random.between(0, known.length - 1)] as Waiting<number>
        levels.remove(waiting)
        plain.remove(waiting)
      } else {
        const price = random.between(1, 400)
        const expected = plain.touched(price)
        assert.strictEqual(levels.reaches(price), expected !== null)
        assert.strictEqual(levels.touched(price), expected)
      }
      assert.strictEqual(levels.size, plain.all().length)
      if (n % 100 === 0) assert.deepStrictEqual(levels.all(), plain.all())
    }
  })

  it("200,000 objects on one level, and on as many levels, are added and removed in any order", () => {
    const random = new SeededRandom(9)
    for (const levelOf of [() => 7, (n: number) => (n * 7_919) % 200_000]) {
      const levels = new Levels<number>()
      const all = Array.from({ length: 200_000 }, (_, n) => levels.add("AT_OR_BELOW", levelOf(n), n))
      const places = new Map(all.map((waiting) => [waiting, random.next()]))
      const inAnyOrder = all.toSorted((one, other) => (places.get(one) ?? 0) - (places.get(other) ?? 0))
      for (const waiting of inAnyOrder) levels.remove(waiting)
      assert.strictEqual(levels.size, 0)
      assert.isNull(levels.touched(0))
    }
  })
})
