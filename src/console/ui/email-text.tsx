/** Shows an email address, which breaks before its `@` rather than within a word. */
export function EmailText({ of, cut }: { of: string; cut?: boolean }) {
  const at = of.lastIndexOf('@')
  return (
    <bdi class={cut ? 'email cut' : 'email'}>
      {at > 0 ? (
        <>
          {of.slice(0, at)}
          <wbr />
          {of.slice(at)}
        </>
      ) : (
        of
      )}
    </bdi>
  )
}
