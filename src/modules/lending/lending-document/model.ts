import { t } from 'elysia'
import { fieldsOf, Instant, integer, nullable, pageOf, pageQuery, text } from '../../../http/schema.ts'
import { documentsLimit, documentTypes } from './domain.ts'

export const DocumentPath = t.Object({ id: text(64), key: text(64) })

export const LendingDocument = t.Object(
  {
    ...fieldsOf(t.String(), 'id', 'applicationId'),
    key: t.String({ description: 'Key in the checklist' }),
    mimeType: t.String(),
    size: integer({ description: 'In bytes' }),
    originalName: nullable(t.String({ description: 'File name from `content-disposition`, without a path' })),
    uploadedAt: Instant,
  },
  { title: 'LendingDocument' },
)

export const LendingDocuments = pageOf(LendingDocument)

export const ListDocuments = t.Object({
  page: pageQuery.page,
  limit: t.Optional(
    t.String({
      ...pageQuery.limit,
      description: `Default: ${documentsLimit}. Clamped to 1 to ${documentsLimit}, more than a checklist has`,
    }),
  ),
})

/** The file itself. */
export const DocumentFile = t.String({ 'x-media-types': documentTypes, description: 'The file, unchanged' })
