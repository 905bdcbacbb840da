/**
 * Sends a list file to the service in pieces. The service reports how much of the same file it has already received, so an
 * interrupted command continues there. `onSent` gets the number of received entries (operator surface, screening import).
 */
import { type ImportView, maxImportPiece } from "../src/http/api/operator/ScreeningGroup.ts"
import { cliFailure, exitStatus } from "./CliIo.ts"
import type { ListFile } from "./listFile.ts"
import type { OperatorClient, Success } from "./OperatorClient.ts"
import { plural } from "../src/machines/shared/Text.ts"

export const sendList = async (
  api: OperatorClient,
  file: ListFile,
  allowShrink: boolean,
  onSent: (received: number) => void = () => undefined
): Promise<Success<ImportView>> => {
  const { source, version, count, hash, report } = file
  let answer: Success<ImportView> = await api.screening.import({ payload: { source, version, count, hash, report } })
  const params = { importId: String(answer.data.importId) }
  const pieces = file.pieces(maxImportPiece)
  for (let offset = 0; answer.data.status === "OPEN" && offset < count;) {
    const { value: piece } = await pieces.next().catch(() => Promise.reject(changed))
    if (piece === undefined) throw changed
    const { received } = answer.data
    const rest = piece.slice(Math.max(0, received - offset))
    if (rest.length > 0) {
      const payload = { offset: offset + piece.length - rest.length, entries: rest }
      answer = await api.screening.entries({ params, payload })
      onSent(answer.data.received)
    }
    offset += piece.length
  }
  do answer = answer.data.status === "DONE" ? answer : await api.screening.finish({ params, payload: { allowShrink } })
  while (answer.data.status !== "DONE")
  return answer
}

/**
 * The confirmation prompt before a list is sent. It shows the present number of entries of the source, so that the user
 * notices a truncated file.
 */
export const sendQuestion = async (
  api: OperatorClient,
  { count, source, version, report: { notPersons, badLines } }: ListFile
): Promise<string> => {
  const { data } = await api.screening.sources()
  const entries = data.sources.find((each) => each.source === source)?.entries ?? 0
  const fewest = Math.max(0, entries - count)
  const left =
    notPersons + badLines.length === 0
      ? ""
      : ` (${notPersons} that are not persons and ${badLines.length} without a readable name are left out)`
  return `Import ${plural(count, "entry")}${left} as version ${version} of ${source}, which has ${entries} now? Entries that it does not name are removed: ${fewest} at least.`
}

const sentence = "The file has changed since it was checked: run the command again."
const changed = cliFailure(exitStatus.refused, 4000, sentence)
