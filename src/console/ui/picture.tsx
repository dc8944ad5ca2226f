import { useState } from 'preact/hooks'
import { storedPicturePath } from '../lib/format/media-url.ts'
import { Icon } from './icon.tsx'

/**
 * A picture. One of another host is not loaded; large ones show its URL.
 * @param alt empty if the text beside it says the same
 * @param large full width of its container
 */
export function Picture({ url, alt = '', large }: { url: string | null | undefined; alt?: string | null; large?: boolean }) {
  const path = storedPicturePath(url, large ? 640 : 160)
  const [failedPath, setGone] = useState<string | undefined>(undefined)
  if (path !== undefined && failedPath !== path)
    return (
      <img class={large ? 'picture' : 'thumb'} src={path} alt={alt ?? ''} loading="lazy" decoding="async" onError={() => setGone(path)} />
    )
  if (!large || !url)
    return (
      <span class={large ? 'picture none' : 'thumb none'} title={url ?? undefined}>
        <Icon name={url ? 'page' : 'products'} />
      </span>
    )
  return (
    <span class="picture none">
      <bdi dir="ltr">{url}</bdi>
    </span>
  )
}
