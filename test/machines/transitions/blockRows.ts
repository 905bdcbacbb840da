/** The transition table D3 as literal rows. */
import type { BlockEvent } from "../../../src/machines/verification/Block.ts"
import type { BlockCode } from "../../../src/machines/verification/Blocks.ts"
import { rowsOf, type TransitionRow } from "./TransitionRow.ts"

const write: BlockEvent = { type: "PARTNER_WRITE", at: 2 }
const draft: BlockEvent = { type: "DRAFT", at: 2 }
const submit: BlockEvent = { type: "SUBMIT", at: 3 }
const approve: BlockEvent = { type: "APPROVE", at: 4, by: "COMPLIANCE" }
const refuse: BlockEvent = { type: "REJECT", at: 5, by: "COMPLIANCE", reason: "The document cannot be read." }
const fall: BlockEvent = { type: "REJECT_RELIANCE", at: 6, by: "COMPLIANCE", reason: "The attestation is false." }
const expire: BlockEvent = { type: "EXPIRE", at: 7, expiresOn: "2026-01-31", today: "2026-02-01" }
const expireToday: BlockEvent = { ...expire, today: "2026-01-31" }
const pass: BlockEvent = { type: "ASSESSED", at: 8, outcome: "PASS" }
const warn: BlockEvent = { ...pass, outcome: "WARN" }
const fail: BlockEvent = { ...pass, outcome: "FAIL" }
const acknowledge: BlockEvent = { type: "ACKNOWLEDGED", at: 9 }
const downgrade: BlockEvent = { type: "DOWNGRADED", at: 10, by: "ADMIN", reason: "asked by the client" }

const block = (code: BlockCode) => rowsOf<BlockEvent>({ code })
const pep = block("PEP")
const identification = block("IDENTIFICATION")
const check = block("IDENTITY_CHECK")
const test = block("APPROPRIATENESS")
const byPartner = { decidedBy: "PARTNER", decidedAt: 2, reason: null, updatedAt: 2 }
const bySystem = { decidedBy: "SYSTEM", decidedAt: 8, reason: null, updatedAt: 8 }
const fallen = { decidedBy: "COMPLIANCE", decidedAt: 6, reason: "The attestation is false.", updatedAt: 6 }
const expireEffects = ["notify VERIFICATION_DECISION", "audit block.expire"]
const scored = ["audit block.assessed"]

export const verificationBlockRows: ReadonlyArray<TransitionRow> = [
  pep("D3: NOT_STARTED, partner write", "NOT_STARTED", [], write, "APPROVED", [], byPartner),
  test("D3: APPROPRIATENESS cannot be written", "NOT_STARTED", [], write, "refused"),
  pep("D3: NOT_STARTED, draft", "NOT_STARTED", [], draft, "DRAFT", [], { updatedAt: 2 }),
  test("D3: APPROPRIATENESS has no draft", "NOT_STARTED", [], draft, "refused"),
  pep("D3: DRAFT, submit", "DRAFT", [draft], submit, "SUBMITTED", [], { decidedBy: null, updatedAt: 3 }),
  pep("D3: SUBMITTED, approve", "SUBMITTED", [draft, submit], approve, "APPROVED", ["audit block.approve"], {
    decidedBy: "COMPLIANCE",
    decidedAt: 4
  }),
  test("D3: a failed test cannot be approved", "SUBMITTED", [fail], approve, "refused"),
  pep("D3: SUBMITTED, reject", "SUBMITTED", [draft, submit], refuse, "REJECTED", ["audit block.reject"], {
    reason: "The document cannot be read."
  }),
  pep("D3: APPROVED, reject", "APPROVED", [write], refuse, "REJECTED", ["audit block.reject"], {
    decidedBy: "COMPLIANCE",
    decidedAt: 5
  }),
  pep("D3: NOT_STARTED, reliance rejected", "NOT_STARTED", [], fall, "REJECTED", [], fallen),
  pep("D3: DRAFT, reliance rejected", "DRAFT", [draft], fall, "REJECTED", [], fallen),
  pep("D3: SUBMITTED, reliance rejected", "SUBMITTED", [draft, submit], fall, "REJECTED", [], fallen),
  pep("D3: APPROVED, reliance rejected", "APPROVED", [write], fall, "REJECTED", [], fallen),
  pep("D3: REJECTED, reliance rejected", "REJECTED", [write, refuse], fall, "REJECTED", [], fallen),
  identification("D3: EXPIRED, reliance rejected", "EXPIRED", [write, expire], fall, "REJECTED", [], fallen),
  pep("D3: APPROVED, written again, =", "APPROVED", [write], { ...write, at: 3 }, "APPROVED", [], {
    ...byPartner,
    updatedAt: 3
  }),
  test("D3: APPROPRIATENESS approved cannot be written", "APPROVED", [pass], write, "refused"),
  identification("D3: IDENTIFICATION expires", "APPROVED", [write], expire, "EXPIRED", expireEffects, {
    reason: "The identity document has passed its expiration date."
  }),
  check("D3: IDENTITY_CHECK expires", "APPROVED", [write], expire, "EXPIRED", expireEffects),
  identification("D3: valid on its last day", "APPROVED", [write], expireToday, "refused"),
  pep("D3: PEP does not expire", "APPROVED", [write], expire, "refused"),
  identification("D3: EXPIRED, partner write", "EXPIRED", [write, expire], write, "APPROVED", [], byPartner),
  pep("D3: REJECTED, partner write", "REJECTED", [write, fall], write, "APPROVED", [], byPartner),
  test("D3: REJECTED test cannot be written", "REJECTED", [pass, fall], write, "refused"),
  test("D3: NOT_STARTED, PASS", "NOT_STARTED", [], pass, "APPROVED", scored, bySystem),
  test("D3: NOT_STARTED, WARN", "NOT_STARTED", [], warn, "SUBMITTED", scored, { reason: "WARN" }),
  test("D3: NOT_STARTED, FAIL", "NOT_STARTED", [], fail, "SUBMITTED", scored, { reason: "FAIL" }),
  pep("D3: only APPROPRIATENESS is assessed", "NOT_STARTED", [], pass, "refused"),
  test("D3: SUBMITTED, retake PASS", "SUBMITTED", [fail], pass, "APPROVED", scored, bySystem),
  test("A1-40: SUBMITTED, retake voids the WARN", "SUBMITTED", [warn], fail, "SUBMITTED", scored, { reason: "FAIL" }),
  test("D3: REJECTED, PASS", "REJECTED", [pass, fall], pass, "APPROVED", scored, bySystem),
  test("D3: REJECTED, WARN", "REJECTED", [pass, fall], warn, "SUBMITTED", scored, { reason: "WARN" }),
  test("D3: APPROVED, assessed again", "APPROVED", [pass], pass, "refused"),
  test("D3: WARN acknowledged", "SUBMITTED", [warn], acknowledge, "APPROVED", ["audit block.acknowledged"], {
    decidedBy: "SYSTEM",
    decidedAt: 9,
    reason: null
  }),
  test("A1-42: FAIL acknowledged", "SUBMITTED", [fail], acknowledge, "refused"),
  test("A1-42: acknowledged twice", "APPROVED", [warn, acknowledge], acknowledge, "refused"),
  test("D3: APPROVED, downgraded", "APPROVED", [pass], downgrade, "EXPIRED", ["audit block.downgraded"], {
    decidedBy: "ADMIN",
    reason: "asked by the client"
  }),
  pep("D3: only APPROPRIATENESS is downgraded", "APPROVED", [write], downgrade, "refused"),
  test("D19: EXPIRED, PASS", "EXPIRED", [pass, downgrade], pass, "APPROVED", scored, bySystem),
  test("D19: EXPIRED, FAIL", "EXPIRED", [pass, downgrade], fail, "SUBMITTED", scored, { reason: "FAIL" })
]
