/** Follows a console URL like a link does, with the question about unsaved changes. */
export function navigate(href: string): void {
  const link = document.createElement('a')
  link.href = href
  document.body.append(link)
  link.click()
  link.remove()
}
