import type { Deps } from './deps.ts'

/**
 * Returns the URL of this instance without a trailing slash: PUBLIC_URL, or the address it listens on. Request headers
 * are not trusted.
 */
export function publicUrlOf({ config, life }: Pick<Deps, 'config' | 'life'>): string {
  const { publicUrl, host, port } = config
  return publicUrl?.replace(/\/+$/, '') ?? life.url ?? `http://${host.includes(':') ? `[${host}]` : host}:${port}`
}
