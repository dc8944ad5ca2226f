/** Headers of pages that a link alone leads to: nothing keeps them, finds them or passes the link on. */
export function pageAnswer({ html, policy }: { readonly html: string; readonly policy: string }): Response {
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
