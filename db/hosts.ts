/**
 * A PostgreSQL URL may list several servers, one of which is the primary:
 * `postgres://USER:PASSWORD@HOST:PORT,HOST:PORT/DATABASE`.
 */
const parts = /^(postgres(?:ql)?:\/\/(?:[^@/?#]*@)?)([^/?#]*)(.*)$/s

/**
 * Splits a URL into one URL per server.
 * @returns an empty list for an invalid URL
 */
export function serversOf(text: string): string[] {
  const [, before = '', hosts = '', behind = ''] = parts.exec(text) ?? []
  const urls = hosts.split(',').map((host) => `${before}${host}${behind}`)
  return urls.every((url) => Boolean(URL.parse(url)?.hostname)) ? urls : []
}
