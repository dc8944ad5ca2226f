import { t } from 'elysia'
import { Instant, integer, pageOf, text } from '../../../http/schema.ts'
import { pictureTypes } from '../../../lib/pictures/index.ts'

const size = t.Object({ width: integer(), url: t.String() }, { title: 'PictureSize' })

export const Media = t.Object(
  {
    id: t.String(),
    url: t.String({ description: 'Where anybody reads it; for ever the same picture' }),
    width: integer({ description: 'Pixels, as it is shown' }),
    height: integer(),
    type: t.String({ description: 'Its media type, by its own bytes' }),
    bytes: integer({ description: 'As it is kept, without its sizes: what counts of the quota' }),
    animated: t.Boolean(),
    sizes: t.Array(size, { description: 'Smaller ones, as WebP; none of what moves, and of AVIF' }),
    createdAt: Instant,
  },
  { title: 'Media' },
)
export const AddedMedia = t.Object(
  {
    ...Media.properties,
    known: t.Boolean({ description: 'The shop had it before: this is the record that was there, and nothing was added' }),
  },
  { title: 'AddedMedia' },
)
export const MediaList = pageOf(Media)
export const PictureName = t.Object({ name: text(64) })

export const PictureFile = t.String({ 'x-media-types': pictureTypes, description: 'The picture' })
