import type { Schema } from '../../lib/api/api.ts'

export type VersionedApplication = { data: Schema<'LendingApplication'>; etag: string }
