const mediaPath = /^\/media\/([0-9a-f]{32})(?:-\d{1,5})?$/

/**
 * Returns the path of a stored picture, or undefined for another URL. Stored URLs can name another host than the
 * page's.
 * @param width smallest width that is enough
 */
export function storedPicturePath(url: string | null | undefined, width?: 160 | 320 | 640 | 1280): string | undefined {
  const hash = mediaPath.exec(URL.parse(url ?? '', location.origin)?.pathname ?? '')?.[1]
  return hash === undefined ? undefined : `/media/${hash}${width === undefined ? '' : `-${width}`}`
}
