/** The protection of an order as literal rows (D7). */
import { rowsOf } from "./TransitionRow.ts"
import type { AttachmentEvent } from "../../../src/machines/order/Attachment.ts"
import {
  attachmentInput,
  closedStanding,
  firedStanding,
  placedStanding
} from "../../../src/machines/order/attachmentSamples.ts"

const row = rowsOf<AttachmentEvent>(attachmentInput)

const place: AttachmentEvent = { type: "PLACE", at: 10, standing: placedStanding }
const stand: AttachmentEvent = { type: "STAND", at: 20, standing: placedStanding }
const fire: AttachmentEvent = { type: "FIRE", at: 30, standing: firedStanding }
const close: AttachmentEvent = { type: "CLOSE", at: 40, standing: closedStanding }
/** The protection closes while the parent order still works. */
const closeEarly: AttachmentEvent = { ...close, standing: { ...closedStanding, parentWorks: true } }
const follow: AttachmentEvent = { type: "FOLLOW", at: 50, standing: placedStanding }

const places = ["audit attachment.place"]
const fires = ["audit attachment.fire"]
const closes = ["audit attachment.close"]
const over = { live: false, standing: closedStanding, updatedAt: 40 }

export const attachmentRows = [
  row("D7: ARMED, the parent's first fill", "ARMED", [], place, "PLACING", places, { standing: placedStanding }),
  row("D7: ARMED, a fill whose level is passed already", "ARMED", [], fire, "FIRED", fires),
  row("D7: ARMED, the parent ends unfilled", "ARMED", [], close, "CLOSED", closes, over),
  row("A2-40: ARMED, a fill of which nothing is held", "ARMED", [], follow, "ARMED", [], { updatedAt: 50 }),
  row("D7: ARMED, no leg stands", "ARMED", [], stand, "refused"),
  row("D7: PLACING, the venue has the legs", "PLACING", [place], stand, "ACTIVE", [], { updatedAt: 20 }),
  row("D7: PLACING, a leg fires", "PLACING", [place], fire, "FIRED", fires, { standing: firedStanding, live: true }),
  row("D7: PLACING, the position is flat", "PLACING", [place], close, "CLOSED", closes, over),
  row("D7: PLACING, a leg is refused", "PLACING", [place], follow, "PLACING", [], { updatedAt: 50 }),
  row("D7: PLACING, placed already", "PLACING", [place], place, "refused"),
  row("D7: ACTIVE, a member fills", "ACTIVE", [place, stand], fire, "FIRED", fires, { standing: firedStanding }),
  row("D7: ACTIVE, the position is flat", "ACTIVE", [place, stand], close, "CLOSED", closes, over),
  row("D7: ACTIVE, the parent fills on", "ACTIVE", [place, stand], follow, "ACTIVE", [], { updatedAt: 50 }),
  row("D7: ACTIVE, its legs stand", "ACTIVE", [place, stand], place, "refused"),
  row("D7: FIRED, the parent fills on", "FIRED", [place, fire], place, "PLACING", places),
  row("D7: FIRED, the parent fills on behind the level", "FIRED", [place, fire], fire, "FIRED", fires),
  row("D7: FIRED, the others are cancelled", "FIRED", [place, fire], close, "CLOSED", closes, over),
  row("D7: FIRED, one of the others goes on", "FIRED", [place, fire], follow, "FIRED", [], { updatedAt: 50 }),
  row("D7: CLOSED, the parent fills on", "CLOSED", [place, closeEarly], place, "PLACING", places, { live: true }),
  row("D7: CLOSED, the parent fills on behind the level", "CLOSED", [place, closeEarly], fire, "FIRED", fires),
  row("D7: CLOSED, the parent ends", "CLOSED", [place, closeEarly], follow, "CLOSED", [], { updatedAt: 50 }),
  row("D7: CLOSED, a second end", "CLOSED", [place, close], close, "refused")
]
