/** JournalPg: the common guarantees on a real PostgreSQL. Its failures are in journalPgFailures.test.ts. */
import { journalConformance } from "./journalConformance.ts"
import { openPgBench } from "./pgBench.ts"

journalConformance("JournalPg", openPgBench)
