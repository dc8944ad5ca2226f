/** The change feed of the engine in use. */

import type { ChangeFeed } from './change-feed-query.ts'
import { engine } from './columns.ts'
import { postgresChangeFeed } from './postgres/change-feed.ts'
import { sqliteChangeFeed } from './sqlite/change-feed.ts'

export const changeFeed: ChangeFeed = engine === 'sqlite' ? sqliteChangeFeed : postgresChangeFeed
