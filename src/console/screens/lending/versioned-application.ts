import type { Schema } from '../../lib/api/api.ts'

/** An application with its version. */
export type Held = { data: Schema<'LendingApplication'>; etag: string }
