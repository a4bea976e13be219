// Runs graph models: node run_model.js PACKAGE < [{"model": folder, "inputs": {name: {"shape", "dtype", "values"}}}].
// Writes, for each, {name: {"shape", "values"}}, or {"error"}. PACKAGE is the folder of @tensorflow/tfjs.
const fs = require('fs');
const path = require('path');
const tf = require(process.argv[2]);

function load(folder) {
  const model = JSON.parse(fs.readFileSync(path.join(folder, 'model.json'), 'utf8'));
  const group = model.weightsManifest[0];
  const data = Buffer.concat(group.paths.map((name) => fs.readFileSync(path.join(folder, name))));
  return tf.loadGraphModel({
    load: async () => ({
      ...model,
      weightSpecs: group.weights,
      weightData: data.buffer.slice(data.byteOffset, data.byteOffset + data.byteLength),
    }),
  });
}

async function run({model, inputs}) {
  const loaded = await load(model);
  const given = {};
  for (const [name, x] of Object.entries(inputs)) given[name] = tf.tensor(x.values, x.shape, x.dtype);
  const names = Object.values(loaded.modelSignature.outputs).map((x) => x.name);
  const results = await loaded.executeAsync(given, names);
  const found = {};
  (Array.isArray(results) ? results : [results]).forEach((y, i) => {
    found[names[i]] = {shape: y.shape, values: Array.from(y.dataSync())};
  });
  return found;
}

(async () => {
  await tf.setBackend('cpu');
  const answers = [];
  for (const asked of JSON.parse(fs.readFileSync(0, 'utf8'))) {
    try {
      answers.push(await run(asked));
    } catch (error) {
      answers.push({error: String(error)});
    }
  }
  fs.writeSync(1, '\n' + JSON.stringify(answers));
})();
