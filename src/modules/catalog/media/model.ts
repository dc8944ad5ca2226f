import { t } from 'elysia'
import { Instant, integer, pageOf, text } from '../../../http/schema.ts'
import { pictureTypes } from '../../../lib/pictures/index.ts'

const size = t.Object({ width: integer(), url: t.String() }, { title: 'MediaSize' })

const Media = t.Object(
  {
    id: t.String(),
    url: t.String({ description: 'Public URL of the picture. A URL never shows another picture' }),
    width: integer({ description: 'In pixels, as displayed' }),
    height: integer(),
    type: t.String({ description: "Media type, detected from the file's content" }),
    bytes: integer({ description: 'Stored size without the smaller versions. It counts towards the quota' }),
    animated: t.Boolean(),
    sizes: t.Array(size, { description: 'Smaller versions as WebP. Animated and AVIF pictures have none' }),
    createdAt: Instant,
  },
  { title: 'Media' },
)
export const AddedMedia = t.Object(
  {
    ...Media.properties,
    known: t.Boolean({ description: 'True if the shop already had this picture. The existing record is returned' }),
  },
  { title: 'UploadedMedia' },
)
export const MediaList = pageOf(Media)
export const PictureName = t.Object({ name: text(64) })

export const PictureFile = t.String({ 'x-media-types': pictureTypes, description: 'The picture' })
