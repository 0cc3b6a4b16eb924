// Files of the server, saved by the browser; the token goes in the header, never into an address.
import { response } from "../core/api.js";

const FILE_MILLISECONDS = 300_000;

// The name in a Content-Disposition header, or another.
export function fileName(header, otherwise) {
  const encoded = /filename\*=UTF-8''([^;]+)/i.exec(header ?? "");
  if (encoded) return decodeURIComponent(encoded[1]);
  return /filename="([^"]+)"/i.exec(header ?? "")?.[1] ?? otherwise;
}

// Fetches a file and hands it to the browser to save; resolves to its name.
export async function save(path, query) {
  const answer = await response(path, { query, timeout: FILE_MILLISECONDS });
  const name = fileName(answer.headers.get("Content-Disposition"), path.split("/").at(-1));
  const address = URL.createObjectURL(await answer.blob());
  const link = document.createElement("a");
  link.href = address;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
  return name;
}
