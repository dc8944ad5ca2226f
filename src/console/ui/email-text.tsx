/** Shows an email address, which breaks before its `@` rather than within a word. */
export function EmailText({ email, cut }: { email: string; cut?: boolean }) {
  const at = email.lastIndexOf('@')
  return (
    <bdi class={cut ? 'email cut' : 'email'}>
      {at > 0 ? (
        <>
          {email.slice(0, at)}
          <wbr />
          {email.slice(at)}
        </>
      ) : (
        email
      )}
    </bdi>
  )
}
