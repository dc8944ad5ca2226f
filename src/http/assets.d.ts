/** An import with `{ type: 'file' }` yields the path of the file, on disk or inside the compiled program. */
declare module 'swagger-ui-dist/*' {
  const path: string
  export default path
}

/** An import with `{ type: 'text' }` yields the content of the file. */
declare module '*.md' {
  const text: string
  export default text
}
