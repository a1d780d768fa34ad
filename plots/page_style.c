/* plots/page_style.c - how the page looks, its head, and the little script that is not needed to
 * read it. */
#include "plots/page.h"

#include "plots/html.h"

static const char style[] =
    ":root{color-scheme:light dark;--bg:#fff;--fg:#1b1b1b;--soft:#5c5c5c;--line:#d5d5d5;--box:#f4f4f2;"
    "--link:#0b5cad;--cue:#8886}\n"
    "@media (prefers-color-scheme:dark){:root{--bg:#16181b;--fg:#e8e8e8;--soft:#a8a8a8;--line:#3d4146;"
    "--box:#22262b;--link:#8cc4ff}}\n"
    "body{background:var(--bg);color:var(--fg);font:15px/1.5 system-ui,\"Noto Sans CJK SC\",\"Noto Sans SC\","
    "\"PingFang SC\",\"Microsoft YaHei\",\"Droid Sans Fallback\",sans-serif;max-width:1230px;"
    "margin:0 auto;padding:24px 16px 64px}\n"
    "a{color:var(--link)}:focus-visible{outline:2px solid var(--link);outline-offset:2px}\n"
    "h1{font-size:26px;margin:0 0 4px}h2{font-size:19px;margin:40px 0 8px;border-bottom:1px solid "
    "var(--line);padding-bottom:4px}h3{font-size:16px;margin:24px 0 4px}\n"
    "nav{font-size:13px;margin:8px 0 16px}nav ul{list-style:none;display:flex;flex-wrap:wrap;gap:2px 14px;"
    "padding:0;margin:0}\n"
    ".skip{position:absolute;left:-999em}.skip:focus{position:static}\n"
    ".answer{font-size:18px;background:var(--box);border-left:5px solid var(--fg);padding:12px 16px;"
    "margin:16px 0}\n"
    ".warn{border-left:5px double var(--soft);background:var(--box);padding:8px 16px;margin:12px 0}\n"
    ".soft,figcaption,.note,.get,caption{color:var(--soft);font-size:13px}.note{margin:12px 0 4px}"
    ".get{margin:2px 0 10px}\n"
    ".scroll{overflow-x:auto;background:linear-gradient(90deg,var(--bg) 30%,transparent) 0 0/40px 100% no-repeat local,"
    "linear-gradient(270deg,var(--bg) 30%,transparent) 100% 0/40px 100% no-repeat local,"
    "linear-gradient(90deg,var(--cue),transparent) 0 0/14px 100% no-repeat scroll,"
    "linear-gradient(270deg,var(--cue),transparent) 100% 0/14px 100% no-repeat scroll}table{border-collapse:collapse;font-size:13px;"
    "font-variant-numeric:tabular-nums;min-width:60%}\n"
    "caption{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)}\n"
    "th,td{padding:4px 7px;border-bottom:1px solid var(--line);text-align:right;vertical-align:top}"
    "th{font-weight:600}tbody th{min-width:8.5em}th:first-child,td.text,th.text{text-align:left}"
    "thead tr:last-child>*{border-bottom:2px solid var(--line)}.unit{font-weight:400;color:var(--soft)}"
    "td.long{min-width:13em}td.short,.range{white-space:nowrap}td ul{margin:0;padding-left:1.1em}"
    "tr.sum th,tr.sum td{border-top:2px solid var(--line);font-weight:600}tr.sum td.text{font-weight:400}\n"
    "th.group{text-align:center;border-left:1px solid var(--line)}\n"
    "th button{font:inherit;color:inherit;background:none;border:0;padding:0;margin:0;text-align:inherit;"
    "cursor:pointer}th button:hover{text-decoration:underline}"
    "th[aria-sort=ascending] button::after{content:\" \\25B2\"}"
    "th[aria-sort=descending] button::after{content:\" \\25BC\"}\n"
    ".chip{padding-left:11px;border-radius:2px;margin-right:6px;font-size:10px;"
    "print-color-adjust:exact;-webkit-print-color-adjust:exact}\n"
    ".again{background-image:linear-gradient(90deg,transparent 38%,var(--bg) 38%,var(--bg) 62%,transparent 62%)}\n"
    "figure{margin:12px 0}figure svg{max-width:100%;height:auto;display:block}.v{cursor:default}\n"
    "#tip{position:fixed;pointer-events:none;background:var(--fg);color:var(--bg);font-size:12px;"
    "padding:2px 7px;border-radius:3px;z-index:9;max-width:24em}\n"
    "dl{display:grid;grid-template-columns:max-content 1fr;gap:2px 16px}dt{color:var(--soft)}dd{margin:0;"
    "overflow-wrap:anywhere}\n"
    "code,pre{font:12px/1.45 ui-monospace,monospace}pre{background:var(--box);padding:12px;overflow-x:auto}\n"
    "@media (max-width:640px){:lang(zh) th{word-break:keep-all}body{padding:12px 10px 48px}dl{grid-template-columns:1fr}dd{margin-bottom:6px}"
    "td.text{min-width:7em}td.long{min-width:20em}figure svg{max-width:none;min-width:600px}.scroll th:first-child{position:sticky;"
    "left:0;background:var(--bg)}"
    ".cards thead{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)}"
    ".cards,.cards tbody,.cards tr,.cards td,.cards tbody th{display:block;text-align:left;min-width:0}"
    ".cards tr{border-top:2px solid var(--line);padding:6px 0}.cards td,.cards tbody th{border:0;padding:2px 0}"
    ".cards td[data-l]::before{content:attr(data-l) \": \";color:var(--soft)}.cards td:empty{display:none}}\n";

/* On paper: two pictures side by side, rows and pictures never cut, no head of a table without
 * two of its rows, no last row without the one before. A head with buttons as boxes is not
 * repeated on the next page (Chromium). */
static const char paper[] =
    "@page{size:A4 landscape;margin:12mm}\n"
    "@media print{:root{color-scheme:light;--bg:#fff;--fg:#000;--soft:#444;--line:#bbb;--box:#f4f4f2}"
    "body{max-width:none;padding:0;font-size:12px}h1{font-size:20px}.answer{font-size:15px}details,nav,.get,.skip{display:none}"
    "h2,h3,.note{break-after:avoid}h2{margin:16px 0 6px}h3{margin:10px 0 2px}.note{margin:8px 0 2px}figure{margin:4px 0}"
    ".pic{display:inline-block;width:49.3%;vertical-align:top;break-inside:avoid}.pic h2{margin-top:10px}"
    "figcaption{font-size:10px}figure,tr,.warn,.answer,li,dl>*,"
    ".scroll:not(:has(tr:nth-child(9))){break-inside:avoid}tbody tr:nth-child(-n+2),tbody tr:nth-last-child(-n+2)"
    "{break-before:avoid}.scroll{overflow:visible;background:none}table{font-size:9.5px;"
    "min-width:0;max-width:100%}th,td{padding:2px 4px;overflow-wrap:break-word}td:not(.text){white-space:nowrap}"
    "td.short{white-space:normal}td.long{min-width:0}tbody th{min-width:6em}"
    "thead{display:table-header-group;break-inside:avoid}th button{display:contents}.note,.soft{font-size:10.5px}figure svg{max-height:165mm;max-width:100%;width:auto}}\n";

/* On a dark page the ramp of categories (style.gp) begins where it is 3 to 1 against the page,
 * and hollow points are hollow. */
static const char dark[] = "@media screen and (prefers-color-scheme:dark){"
                           "figure [fill=\"rgb( 59,  42,  32)\"]{fill:#7A6150}"
                           "figure [fill=\"rgb( 82,  61,  47)\"]{fill:#887161}"
                           "figure [fill=\"rgb(106,  82,  66)\"]{fill:#968173}"
                           "figure [fill=\"rgb(130, 105,  87)\"]{fill:#A49184}"
                           "figure [fill=\"rgb(153, 129, 110)\"]{fill:#B2A195}"
                           "figure [fill=\"rgb(175, 153, 135)\"]{fill:#BFB2A7}"
                           "figure [fill=\"rgb(195, 177, 161)\"]{fill:#CDC2B8}"
                           "figure [fill=\"rgb(214, 200, 186)\"]{fill:#DBD2C9}"
                           "figure [fill=\"rgb(230, 220, 209)\"]{fill:#E9E2DB}"
                           "figure [fill=\"rgb(244, 238, 231)\"]{fill:#F7F2EC}"
                           "figure [color=\"rgb(255, 255, 255)\"]{color:var(--bg)}}\n";

/* Column heads become buttons; a figure under the pointer or the focus is shown at once. */
static const char script[] =
    "(function(){'use strict';\n"
    "function key(row,i){var c=row.cells[i];if(!c)return'';return c.hasAttribute('data-v')?"
    "(c.dataset.v===''?NaN:+c.dataset.v):c.textContent.trim();}\n"
    "function order(table,th,i){var down=th.getAttribute('aria-sort')==='ascending',body=table.tBodies[0];\n"
    "var rows=Array.prototype.slice.call(body.rows),sums=rows.filter(function(r){return r.className==='sum';});\n"
    "rows=rows.filter(function(r){return r.className!=='sum';});\n"
    "table.querySelectorAll('th[aria-sort]').forEach(function(o){o.removeAttribute('aria-sort');});\n"
    "th.setAttribute('aria-sort',down?'descending':'ascending');\n"
    "rows.sort(function(a,b){var x=key(a,i),y=key(b,i);\n"
    "if(typeof x==='number'||typeof y==='number'){if(isNaN(x))return isNaN(y)?0:1;if(isNaN(y))return-1;"
    "return down?y-x:x-y;}\n"
    "return down?y.localeCompare(x):x.localeCompare(y);});\n"
    "rows.concat(sums).forEach(function(r){body.appendChild(r);});}\n"
    "document.querySelectorAll('table.sort').forEach(function(table){\n"
    "if(!table.tHead||table.tBodies[0].rows.length<2)return;\n"
    "var head=table.tHead.rows[table.tHead.rows.length-1];\n"
    "Array.prototype.forEach.call(head.cells,function(th,i){var b=document.createElement('button');\n"
    "b.type='button';while(th.firstChild)b.appendChild(th.firstChild);th.appendChild(b);\n"
    "b.addEventListener('click',function(){order(table,th,i);});});});\n"
    "var tip=null;document.addEventListener('pointermove',function(e){\n"
    "var g=e.target.closest?e.target.closest('.v'):null,t=g&&g.querySelector('title');\n"
    "var say=g&&(g.dataset.t||(t&&t.textContent));\n"
    "if(!say){if(tip)tip.hidden=true;return;}\n"
    "if(t){g.dataset.t=say;g.setAttribute('aria-label',say);t.remove();}\n"
    "if(!tip){tip=document.createElement('div');tip.id='tip';document.body.appendChild(tip);}\n"
    "tip.textContent=say;tip.hidden=false;\n"
    "tip.style.left=Math.max(0,Math.min(e.clientX+12,innerWidth-tip.offsetWidth-4))+'px';\n"
    "tip.style.top=Math.max(0,e.clientY-30)+'px';});\n"
    "})();\n";

void page_head(struct page *p)
{
    static const char *const codes[LANGS] = { "en", "zh-CN" };
    strbuf_addf(p->out,
                "<!DOCTYPE html>\n<html lang=\"%s\">\n<head>\n<meta charset=\"utf-8\">\n<meta "
                "name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>",
                codes[p->lang]);
    html_text(p->out, p->r->scenario_name);
    strbuf_addf(p->out, " - %s</title>\n<style>\n", page_word(p, W_REPORT));
    strbuf_addz(p->out, style);
    strbuf_addz(p->out, dark);
    strbuf_addz(p->out, paper);
    strbuf_addf(p->out,
                "</style>\n</head>\n<body>\n<a class=\"skip\" href=\"#comparison\">%s</a>\n",
                page_word(p, W_SKIP));
}

void page_script(struct page *p)
{
    strbuf_addf(p->out, "<script>\n%s</script>\n", script);
}
