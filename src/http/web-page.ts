/** Responds with a page that only its link reveals: not cached, not indexed, no referrer. */
export function pageResponse({ html, policy }: { readonly html: string; readonly policy: string }): Response {
  return new Response(html, {
    headers: {
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': policy,
      'referrer-policy': 'no-referrer',
      'x-robots-tag': 'noindex, nofollow',
      'cache-control': 'no-store',
      vary: 'accept',
    },
  })
}
