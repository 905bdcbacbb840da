/** Why something failed, in words that may be written down. */
import { describeFailure } from "../../../engine/journal/sqlFailure.ts"

/** What a failure is called where it is written down: our own words, and of what others threw nothing that holds values. */
export const reasonOf = (defect: unknown): string =>
  (defect instanceof Error && defect.name === "Error" ? defect.message : describeFailure(defect)).slice(0, mostOfReason)
const mostOfReason = 500
