/** The reason of a failure in a form that may be logged and stored. */
import { describeFailure } from "../../../engine/journal/sqlFailure.ts"

/**
 * Describes a failure for logs and rows. For this service's own errors this is the message. For other errors it
 * contains only parts without values.
 */
export const reasonOf = (defect: unknown): string =>
  (defect instanceof Error && defect.name === "Error" ? defect.message : describeFailure(defect)).slice(0, mostOfReason)
const mostOfReason = 500
