/** Takes a file along that wants a token: links cannot send one. */
import { fetched } from './api.ts'

/**
 * Fetches a file and hands it to the browser to keep.
 * @param name what it is called where the server does not say
 * @throws Refused
 */
export async function download(path: string, name: string, accept = '*/*'): Promise<void> {
  const answer = await fetched(new Request(path, { headers: { accept }, credentials: 'omit' }))
  save(await answer.blob(), nameIn(answer.headers.get('content-disposition')) ?? name)
}

/** Hands bytes that the page has to the browser to keep. */
export function save(blob: Blob, name: string): void {
  const url = URL.createObjectURL(blob)
  const link = document.createElement('a')
  link.href = url
  link.download = name
  link.click()
  setTimeout(() => URL.revokeObjectURL(url), 60_000)
}

const nameIn = (disposition: string | null): string | undefined => /filename="([^"]+)"/.exec(disposition ?? '')?.[1]
