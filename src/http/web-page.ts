/** Responds with a page. By default only its link reveals it: not cached, not indexed, no referrer. */
export function pageResponse({ html, policy }: { readonly html: string; readonly policy: string }, cacheControl = 'no-store'): Response {
  return new Response(html, {
    headers: {
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': policy,
      'referrer-policy': 'no-referrer',
      'x-robots-tag': 'noindex, nofollow',
      'cache-control': cacheControl,
      vary: 'accept',
    },
  })
}
