/** Shows an email address, which breaks before its `@` rather than within a word. */
export function EmailText({ email, cut }: { email: string; cut?: boolean }) {
  const domainStart = email.lastIndexOf('@')
  return (
    <bdi class={cut ? 'email cut' : 'email'}>
      {domainStart > 0 ? (
        <>
          {email.slice(0, domainStart)}
          <wbr />
          {email.slice(domainStart)}
        </>
      ) : (
        email
      )}
    </bdi>
  )
}
