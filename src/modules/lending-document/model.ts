import { t } from 'elysia'
import { fieldsOf, Instant, integer, nullable, text } from '../../http/schema.ts'
import { documentTypes } from './domain.ts'

export const DocumentPath = t.Object({ id: text(64), key: text(64) })

export const LendingDocument = t.Object(
  {
    ...fieldsOf(t.String(), 'id', 'applicationId'),
    key: t.String({ description: 'Of the checklist' }),
    mimeType: t.String(),
    size: integer({ description: 'Bytes' }),
    originalName: nullable(t.String({ description: 'As its sender called it (`content-disposition`), without a path' })),
    uploadedAt: Instant,
  },
  { title: 'LendingDocument' },
)

export const LendingDocuments = t.Object({ data: t.Array(LendingDocument, { description: 'At most one of each key' }) })

/** The file itself. */
export const DocumentFile = t.String({ 'x-media-types': documentTypes, description: 'The file, as it was sent' })
