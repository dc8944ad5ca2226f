/** What was committed since, in the order of the commits: the engines know that by different things. */

import type { Tail } from './change-feed-query.ts'
import { engine } from './columns.ts'
import { postgresTail } from './postgres/change-feed.ts'
import { sqliteTail } from './sqlite/change-feed.ts'

export const tail: Tail = engine === 'sqlite' ? sqliteTail : postgresTail
