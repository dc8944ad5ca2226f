/** Pictures of souk itself: those alone a page may show. */

const own = /^\/media\/([0-9a-f]{32})(?:-\d{1,5})?$/

/**
 * Where a picture of souk's is, below the address of this page; undefined of any other. souk names its pictures by where it is reached from
 * outside, which may be another host than the page's: the same picture is here, too.
 * @param width of the smaller one that is enough
 */
export function ownPicture(url: string | null | undefined, width?: 160 | 320 | 640 | 1280): string | undefined {
  const hash = own.exec(URL.parse(url ?? '', location.origin)?.pathname ?? '')?.[1]
  return hash === undefined ? undefined : `/media/${hash}${width === undefined ? '' : `-${width}`}`
}
