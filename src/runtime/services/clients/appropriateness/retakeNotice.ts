/**
 * The end of the cooling period of an appropriateness test (A1-40): a durable timer of the client comes back at retakeAt
 * and the assessment decides whether there is anything to take again (D19; A2-64). A client that is closed or refused for good
 * gets no notice.
 */
import { retakeTimer } from "../../../../machines/appropriateness/Assessment.ts"
import type { Turn } from "../../../engine/mailbox/ActorHost.ts"
import { moveAssessment } from "../client/clientDecisions.ts"
import { instanceOf } from "../../account/clientState.ts"
import type { Directory } from "../../partners/Directory.ts"
import { partnerOfTurn } from "../../partners/partnerOfTurn.ts"

/** The timer's handler by name: what runs in the client's mailbox when it is due. */
export const retakeHandlers = (directory: Directory["Service"]) => ({
  [retakeTimer]: (turn: Turn) => {
    const client = turn.state.one("clients")
    const partner = client === undefined ? null : partnerOfTurn(turn, directory, client)
    if (client === undefined || partner === null) return
    if (client.state === "CLOSED" || client.state === "KYC_REJECTED") return
    moveAssessment({ turn, instance: instanceOf(client, partner), by: "SYSTEM" }, client, {
      type: "RETAKE_DUE",
      at: turn.now
    })
  }
})
