/**
 * The language of the page. Texts are English in the scripts, on the server and in its data; the page translates them
 * when it shows them. The catalogue of a language maps English texts to translations. A key with placeholders, such as
 * "{name} wins {n} coats", matches any text of this form: {n} and other single letters are numbers, {name} and other
 * words are texts that are translated, too. In a translation, {color|f} is the form of a text that the catalogue has as
 * "green|f".
 */

import { keep, recall } from "./kept.js";

/** The languages by code, each with its own name. */
const LANGUAGES = { en: "English", de: "Deutsch", fr: "Français", nl: "Nederlands" };
/** Attributes with texts. */
const ATTRIBUTES = ["aria-label", "title", "placeholder", "label"];
/** Fields of the server's messages with texts. */
const FIELDS = ["words", "said", "wins", "label", "note", "help", "why", "hint", "message", "name", "title", "text", "played", "end"];

const wanted = [recall("language", ""), ...navigator.languages].map((one) => one.slice(0, 2).toLowerCase());

/** The code of the language: the chosen one, or the first of the browser's languages that the page has. */
export const language = wanted.find((one) => one in LANGUAGES) ?? "en";
/** The language with the browser's region, for numbers and dates. */
export const locale = navigator.languages.find((one) => one.toLowerCase().startsWith(language)) ?? language;

/** @type {Map<string, string>} */
const catalogue = new Map(Object.entries(language === "en" ? {} : await load()));
/** @type {Map<string, string>} Texts translated so far. */
const known = new Map();

/** @returns {Promise<Record<string, string>>} the catalogue; empty if the server does not respond */
async function load() {
  const answer = await fetch(`/static/languages/${language}.json`).catch(() => null);
  return answer?.ok ? answer.json() : {};
}

const COLON = language === "fr" ? "\u00a0: " : ": ";
/** @type {[RegExp, string][]} What separates the parts of a text: sentences, a label, and items of lists. */
const JOINTS = [[/(?<=[.?!…]) +/, " "], [/: (.*)/s, COLON], [/; /, "; "], [/, /, ", "]];

/** @param {string} name  Return the pattern of a placeholder: a number, a color, or a text within a sentence. */
function valueOf(name) {
  if (name.length === 1) return "([-+−]?\\d[\\d.,\\s]*)";
  return name === "color" ? "([a-z]+)" : "((?:(?![.?!…] ).)+?)";
}

/** The keys with placeholders as patterns, those with the longest fixed text first. */
const templates = [...catalogue]
  .filter(([key]) => key.includes("{"))
  .map(([key, text]) => {
    const parts = key.split(/\{(\w+)\}/);
    const names = parts.filter((_, i) => i % 2);
    const pattern = parts.map((part, i) => (i % 2 ? valueOf(part) : escaped(part))).join("");
    return { pattern: new RegExp(`^${pattern}$`, "s"), names, text, fixed: key.replace(/\{\w\w+\}/g, "").length };
  })
  .sort((a, b) => b.fixed - a.fixed);

/** @param {string} text */
function escaped(text) {
  return text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
}

/** Marks around a name that a person chose, which is no text to translate (`verbatim` in helsinki_env/web/names.py). */
const [OPEN, CLOSE] = ["\u2068", "\u2069"];
const NAMES = new RegExp(`${OPEN}([^${CLOSE}]*)${CLOSE}`, "g");
/** The first of the characters that stand for names while a text is translated. */
const FIRST = 0xe000;

/** @param {string} name  Mark a name, so that it remains as it is in a text. */
export const verbatim = (name) => `${OPEN}${name}${CLOSE}`;

/**
 * Return a text in the language of the page; a text that is not in the catalogue remains English.
 *
 * @param {string} text
 * @returns {string}
 */
export const t = (text) => text && marked(text).replace(NAMES, "$1");

/** @param {string} text  Translate a text whose names remain marked. */
function marked(text) {
  /** @type {string[]} */
  const names = [];
  const hidden = text.replace(NAMES, (name) => String.fromCharCode(FIRST + names.push(name) - 1));
  const found = translate(hidden);
  return names.length ? found.replace(/[\ue000-\uf8ff]/g, (one) => names[one.charCodeAt(0) - FIRST] ?? one) : found;
}

/**
 * Translate a text without names.
 *
 * @param {string} text
 * @returns {string}
 */
function translate(text) {
  if (!catalogue.size || !text) return text;
  const found = known.get(text) ?? whole(text) ?? begun(text) ?? parts(text);
  known.set(text, found);
  return found;
}

/** @param {string} text  Return the translation by a single entry of the catalogue, or undefined. */
function whole(text) {
  const exact = catalogue.get(text);
  if (exact !== undefined) return exact;
  const cut = text.endsWith("…") ? completed(text.slice(0, -1)) : undefined;
  if (cut) return cut;
  for (const { pattern, names, text: translation } of templates) {
    const match = pattern.exec(text);
    if (!match) continue;
    return translation.replace(/\{(\w+)(?:\|(\w+))?\}/g, (_, name, form) => {
      const value = match[names.indexOf(name) + 1];
      return catalogue.get(`${value}|${form}`) ?? translate(value);
    });
  }
}

/** @param {string} start  Return the translation of a text that was cut off in the picture, or undefined. */
const completed = (start) => [...catalogue].find(([key]) => start && key.startsWith(start))?.[1];

/** @param {string} text  Translate a text that has a capital letter only as the start of a sentence. */
function begun(text) {
  const found = /^\p{Lu}\P{Lu}/u.test(text) ? whole(text[0].toLowerCase() + text.slice(1)) : undefined;
  return found && found[0].toUpperCase() + found.slice(1);
}

/** @param {string} text  Translate each sentence of a text, or each part of a list. */
function parts(text) {
  for (const [end, joint] of JOINTS) {
    const found = text.split(end).filter(Boolean);
    if (found.length > 1) return found.map(translate).join(joint);
    if (joint === COLON && text.endsWith(".")) return `${translate(text.slice(0, -1))}.`;
  }
  return text;
}

/**
 * Return a copy of a message from the server with its texts in the language of the page. `english` keeps the words of an
 * action. Names remain marked, because further texts contain them: show them with `t`.
 *
 * @template T
 * @param {T} message
 * @returns {T}
 */
export function translated(message) {
  return catalogue.size ? inside(message) : message;
}

/** @param {any} value @param {string} [field] @returns {any} */
function inside(value, field = "") {
  if (typeof value === "string") return FIELDS.includes(field) ? marked(value) : value;
  if (Array.isArray(value)) return value.map((one) => inside(one, field));
  if (!value || typeof value !== "object") return value;
  const entries = Object.entries(value).map(([name, one]) => {
    const isNotation = name === "text" && "kind" in value;
    return [name, isNotation || name === "spots" ? one : inside(one, name)];
  });
  return { ...Object.fromEntries(entries), ...("words" in value && { english: value.words }) };
}

/** @param {string} title  Return the title of a game record, or the name of a player in it: only default names are texts. */
export const recordTitle = (title) => title.replace(/(?<=^|: |, )Player \d(?= |,|…|$)/g, (one) => t(one));

/**
 * Return a sentence about a player's action; "You" has verbs in the second person, which a catalogue has as "zog|you".
 *
 * @param {string} name
 * @param {string} words  in the language of the page, with verbs in the third person
 */
export function doing(name, words) {
  if (t(name) !== t("You")) return `${name} ${words}`;
  const english = words.replace(/(^|\bor )(?:(push)es|(\w+)s)\b/g, "$1$2$3");
  return `${name} ${language === "en" ? english : words.replace(/\p{L}+/gu, (word) => catalogue.get(`${word}|you`) ?? word)}`;
}

/** @param {number} value  Format a number. */
export const number = (value) => value.toLocaleString(locale);

/** @param {number} part  Format a part from 0 to 1 as a percentage. */
export const percent = (part) => part.toLocaleString(locale, { style: "percent" });

/** @param {string[]} names  List names in a sentence. */
export const joined = (names) => new Intl.ListFormat(locale).format(names);

/** @param {number} seconds  since 1970; format it as a date and time. */
export const date = (seconds) => new Date(1000 * seconds).toLocaleString(locale);

/** Translate the texts of the page's document. */
function translateDocument() {
  document.documentElement.lang = language;
  const texts = document.createTreeWalker(document.documentElement, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const node = /** @type {Text} */ (texts.currentNode);
    const text = node.data.trim().replace(/\s+/g, " ");
    if (text) node.data = node.data.replace(/\S[^]*\S|\S/, () => t(text));
  }
  for (const name of ATTRIBUTES) {
    for (const one of document.querySelectorAll(`[${name}]`)) one.setAttribute(name, t(one.getAttribute(name) ?? ""));
  }
}

/** Offer the languages, where the page has a place for them. */
function offerLanguages() {
  const select = document.getElementById("language");
  if (!(select instanceof HTMLSelectElement)) return;
  for (const [code, name] of Object.entries(LANGUAGES)) select.append(new Option(name, code, code === language, code === language));
  select.addEventListener("change", () => {
    keep("language", select.value);
    location.reload();
  });
}

translateDocument();
offerLanguages();
