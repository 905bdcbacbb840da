/** A reference program's process: serves HTTPS or runs plain SQL, as the benchmark asks over the IPC channel. */
import { answerParent } from "../child.ts"
import { runPlainSql } from "./plainSql.ts"
import type { ReferenceAnswer, ReferenceQuestion } from "./protocol.ts"
import { serveReference } from "./server.ts"

answerParent((question: ReferenceQuestion): Promise<ReferenceAnswer> =>
  question.kind === "serve" ? serveReference(question) : runPlainSql(question)
)
