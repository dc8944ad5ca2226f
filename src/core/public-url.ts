import type { Deps } from './deps.ts'

/** Where people reach this instance, without a slash at the end: by PUBLIC_URL, else where it listens. What a request says of it counts for nothing. */
export function ownUrl({ config, life }: Pick<Deps, 'config' | 'life'>): string {
  const { publicUrl, host, port } = config
  return publicUrl?.replace(/\/+$/, '') ?? life.url ?? `http://${host.includes(':') ? `[${host}]` : host}:${port}`
}
