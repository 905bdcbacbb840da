/** Refs name their objects, and no other text does (A2-111). */
import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import { ownerOfRef, refLetters } from "../../../src/machines/venue/venueRefs.ts"

describe("A2-111: refs", () => {
  it("letters, a hyphen and the id name the object, whatever follows for its several calls", () => {
    for (const [letters, owner] of Object.entries(refLetters)) {
      assert.deepStrictEqual(ownerOfRef(`${letters}-17`), { owner, id: 17 })
      assert.deepStrictEqual(ownerOfRef(`${letters}-17-3`), { owner, id: 17 })
    }
  })

  it.each([
    "",
    "P",
    "P-",
    "P-0",
    "P-01",
    "P-1-",
    "p-1",
    "PP-1",
    "X-1",
    "P-1 ",
    " P-1",
    "P-1x",
    "U-ACM-00000001",
    "P--1"
  ])("%s names nothing of ours", (ref) => assert.isNull(ownerOfRef(ref)))

  it("any text can be parsed", () => {
    fc.assert(fc.property(fc.string(), (text) => assert.isTrue(ownerOfRef(text) === null || /^[A-Z]/.test(text))))
  })
})
