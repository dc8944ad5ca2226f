/** What was committed since, in the order of the commits: the engines know that by different things. */
import { engine } from './columns.ts'
import { postgresTail } from './postgres/tail.ts'
import { sqliteTail } from './sqlite/tail.ts'
import type { Tail } from './tailing.ts'

export const tail: Tail = engine === 'sqlite' ? sqliteTail : postgresTail
